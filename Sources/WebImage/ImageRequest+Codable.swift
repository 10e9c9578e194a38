import WebImageCore
import WebImageDownload
import WebImageProcessing
import WebImageSystem

/// A request can be encoded, for a queue on disk or another process, and decoded again. Options that have their default
/// values are left out: `{"url":"https://example.com/a.jpg","size":{"width":400,...}}`.
///
/// Transforms are encoded as their text, `"transformers":"blur:2|gray"`. Closures, pictures, credentials, and the
/// program's own objects (transformers, watermarks, colour cubes, coders, hooks, caches) cannot be encoded, nor bytes
/// in place of a URL: for a request that has any of them, encoding throws `EncodingError`. The URL is encoded
/// unchanged, including a user and password that it may contain.
extension ImageRequest: Codable {
    private enum CodingKeys: CodingKey {
        case url, path
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let options = try Options(from: decoder)
        if let path = try container.decodeIfPresent(String.self, forKey: .path) {
            self.init(.path(path), options)
        } else {
            self.init(.url(try container.decode(String.self, forKey: .url)), options)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try options.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        if inlineData != nil {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath, debugDescription: "bytes in place of a URL are not written down")
            throw EncodingError.invalidValue(self, context)
        }
        try container.encode(url, forKey: isPath ? .path : .url)
    }
}

extension ImageRequest.Options: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(
            Self(),
            [
                .option("size", \.size), .option("priority", \.priority), .option("timeout", \.timeout),
                .option("retriesFailed", \.retriesFailed), .option("includesData", \.includesData),
                .option("transformers", \.writtenTransforms), .option("alternatives", \.alternatives),
                .option("waitsForNetwork", \.waitsForNetwork),
                .option("decoding", \.decoding), .option("caching", \.caching), .option("http", \.http),
            ], refusal: \.unwritable)
    }

    /// Why these options cannot be encoded; nil if they can.
    private var unwritable: String? {
        if fallback != nil { return "a picture cannot be written down" }
        if transformers.isEmpty { return nil }
        let written = writtenTransforms
        let isAll = written.transforms.count == transformers.count && written.isReadBack
        return isAll ? nil : "a transformer with a closure or a picture cannot be written down"
    }

    private var writtenTransforms: WrittenTransforms {
        get { WrittenTransforms(transforms: transformers.compactMap { $0 as? ImageTransform }) }
        set { transformers = newValue.transforms }
    }
}

/// A chain of transforms that is encoded as its text.
private struct WrittenTransforms: Codable, Equatable {
    let transforms: [ImageTransform]

    init(transforms: [ImageTransform]) { self.transforms = transforms }

    /// Whether parsing the text gives the same chain.
    var isReadBack: Bool { (try? ImageTransform.parse(ImageTransform.text(of: transforms))) == transforms }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            transforms = try ImageTransform.parse(try container.decode(String.self))
        } catch let error as TransformSyntaxError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ImageTransform.text(of: transforms))
    }
}

extension ImageRequest.Decoding: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(
            Self(),
            [
                .option("appliesOrientation", \.appliesOrientation),
                .option("ignoresOrientation", \.ignoresOrientation), .option("keepsBitDepth", \.keepsBitDepth),
                .option("convertsToSRGB", \.convertsToSRGB), .option("scalesInLinearLight", \.scalesInLinearLight),
                .option("bitmapLimit", \.bitmapLimit), .option("firstFrameOnly", \.firstFrameOnly),
                .option("frameLimit", \.frameLimit), .option("preloadsFrames", \.preloadsFrames),
                .option("page", \.page), .option("usesEmbeddedThumbnail", \.usesEmbeddedThumbnail),
                .option("formatHint", \.formatHint), .option("allowsPartial", \.allowsPartial),
                .option("transformsAnimations", \.transformsAnimations),
                .option("transformsVectors", \.transformsVectors),
                .option("requiresAnimation", \.requiresAnimation),
                .option("limits", \.ownLimits),
            ], refusal: \.unwritable)
    }

    /// Why these options cannot be encoded; nil if they can.
    private var unwritable: String? { coder == nil ? nil : "a coder cannot be written down" }
}

extension ImageRequest.Caching: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(
            Self(),
            [
                .option("policy", \.policy), .option("key", \.key), .option("query", \.query),
                .option("store", \.store),
                .option("readsOriginal", \.readsOriginal), .option("storesOriginal", \.storesOriginal),
                .option("waitsForStore", \.waitsForStore), .option("sizePrecision", \.sizePrecision),
            ], refusal: \.unwritable)
    }

    /// Why these options cannot be encoded; nil if they can.
    private var unwritable: String? {
        if serializer != nil { return "a cache serializer cannot be written down" }
        return cache == nil && originalCache == nil ? nil : "caches of a request's own cannot be written down"
    }
}
