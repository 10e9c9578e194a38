import FleetCrypto
import NIOPosix
import ServerGrammar
import WebImage

/// Makes the description of a picture as JSON, with imgproxy Pro's names.
struct PictureInfo {
    /// Colours and placeholders are computed from a picture of at most this size.
    private static let side = 100

    let options: InfoOptions
    let manager: ImageManager

    /// The facts about a source.
    struct Facts: Sendable {
        var header: ImageHeader
        /// The length of the whole file.
        var byteCount: ByteCount?
        /// How many bytes were loaded.
        var receivedByteCount: ByteCount?
        var head: ResponseHead?
        var source: ImageSource
        /// The whole file, if its digests are requested.
        var data: [UInt8]?
        /// The picture in a small size, if its colours are requested.
        var image: Image?
    }

    /// Loads no more than is needed: only the header, all bytes, or the pixels.
    func facts(_ given: ImageRequest) async throws(WebImageError) -> Facts {
        var request = given
        if options.needsPixels {
            request.options.includesData = !options.hashSums.isEmpty
            var crop = options.crop
            (crop.width, crop.height) = (Self.side, Self.side)
            request.options.transformers = [ImageTransform.imgproxy(crop)]
            request.options.decoding.firstFrameOnly = true
            let response = try await manager.image(for: request)
            guard let header = response.header else {
                throw WebImageError(.unsupportedFeature, "the coder did not return a header")
            }
            return Facts(
                header: header, byteCount: response.byteCount, receivedByteCount: response.byteCount,
                head: response.head, source: response.source, data: response.data, image: response.image)
        }
        if options.hashSums.isEmpty {
            let details = try await manager.details(for: request, waitsForEXIF: options.exif)
            return Facts(
                header: details.header, byteCount: details.byteCount, receivedByteCount: details.receivedByteCount,
                head: details.head, source: details.source)
        }
        request.options.includesData = true
        let original = try await manager.keepOriginal(for: request)
        var facts = Facts(
            header: original.header, byteCount: original.byteCount, receivedByteCount: original.byteCount,
            head: original.head, source: original.source, data: original.data)
        if options.exif, Self.mayEndWithEXIF(original.header), let data = original.data {
            var whole = ImageRequest(data: data, name: "original")
            whole.options.decoding.limits = request.options.decoding.limits
            facts.header = try await manager.details(for: whole).header
        }
        return facts
    }

    /// Whether the part of the file after the pixels may hold EXIF that is not known yet.
    private static func mayEndWithEXIF(_ header: ImageHeader) -> Bool {
        let formats: [ImageFormat] = [.png, .apng, .jxl, .avif, .avifSequence, .heic, .heif]
        return header.metadata.exif == nil && formats.contains(header.format)
    }

    func members(_ facts: Facts) async throws(WebImageError) -> [(String, JSONValue)] {
        let header = facts.header
        var members: [(String, JSONValue)] = []
        if options.format {
            members.append(("format", .text(header.format.rawValue)))
            if let type = header.format.mimeType { members.append(("mime_type", .text(type))) }
        }
        if options.dimensions {
            members += [("width", .whole(header.displaySize.width)), ("height", .whole(header.displaySize.height))]
        }
        if options.size, let bytes = facts.byteCount { members.append(("size", .whole(Int(bytes.bytes)))) }
        if options.pages, let count = header.frameCount { members.append(("pages_number", .whole(count))) }
        if options.alpha {
            members.append(("alpha", .object([("has_alpha", .flag(header.hasAlpha))])))
        }
        if options.exif { members.append(("exif", .object(Self.exif(header.metadata.photo)))) }
        if let data = facts.data { members.append(("hashsums", .object(try await hashSums(data)))) }
        if let image = facts.image { members += try colors(of: image) }
        return members
    }

    private func hashSums(_ data: [UInt8]) async throws(WebImageError) -> [(String, JSONValue)] {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [algorithms = options.hashSums] in
                algorithms.compactMap { algorithm in
                    let hash = RunningHash(algorithm)
                    hash.update(data)
                    return hash.finish().map { (algorithm.rawValue, .text(Hexadecimal.text($0))) }
                }
            }
        } catch {
            throw WebImageError(.shutDown, "the server ends")
        }
    }

    private func colors(of image: Image) throws(WebImageError) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if options.average || options.palette > 0 {
            let colors = try ImageColors(of: image, count: max(options.palette, 1))
            if options.average, let average = colors.average { members.append(("average", Self.color(average))) }
            if options.palette > 0 { members.append(("palette", .list(colors.palette.map { Self.color($0.color) }))) }
        }
        if options.dominantColors {
            var vibrant = VibrantColors(try ImageColors(of: image, count: 64).palette)
            if options.buildsMissingColors { vibrant.buildMissing() }
            members.append(
                ("dominant_colors", .object(vibrant.all.map { ($0.kind.rawValue, Self.color($0.color)) })))
        }
        if options.blurHashColumns > 0 {
            let components = (x: options.blurHashColumns, y: options.blurHashRows)
            members.append(("blurhash", .text(try BlurHash(of: image, components: components).text)))
        }
        if options.thumbHash {
            members.append(("thumb_hash", .text(Hexadecimal.text(try ThumbHash(of: image).bytes).uppercased())))
        }
        return members
    }

    private static func color(_ color: RGBColor) -> JSONValue {
        .object([("R", .whole(Int(color.red))), ("G", .whole(Int(color.green))), ("B", .whole(Int(color.blue)))])
    }

    /// With the names of EXIF's tags; coordinates in degrees, north and east positive.
    private static func exif(_ photo: PhotoDetails?) -> [(String, JSONValue)] {
        guard let photo else { return [] }
        var members: [(String, JSONValue)] = []
        func add(_ name: String, _ text: String?) {
            if let text { members.append((name, .text(text))) }
        }
        func add(_ name: String, number: Double?) {
            if let number { members.append((name, .number(number))) }
        }
        add("Make", photo.cameraMaker)
        add("Model", photo.cameraModel)
        add("LensModel", photo.lensModel)
        add("Software", photo.software)
        add("DateTimeOriginal", photo.date?.description)
        add("ExposureTime", number: photo.exposureTime)
        add("FNumber", number: photo.fNumber)
        if let speed = photo.isoSpeed { members.append(("ISOSpeedRatings", .whole(speed))) }
        add("FocalLength", number: photo.focalLength)
        add("GPSLatitude", number: photo.place?.latitude)
        add("GPSLongitude", number: photo.place?.longitude)
        add("GPSAltitude", number: photo.place?.altitude)
        add("ImageDescription", photo.caption)
        add("Artist", photo.artist)
        add("Copyright", photo.copyright)
        return members
    }
}
