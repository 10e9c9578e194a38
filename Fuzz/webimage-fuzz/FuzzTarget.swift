import WebImageCodecs
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The part that is fuzzed: sniffing, metadata, placeholders, the rules of HTTP, compressed bodies, messages of decoder
/// processes, the writing of animations, or the decoder of a format.
struct FuzzTarget {
    private enum Kind {
        case sniffing
        case metadata
        case placeholders
        case http
        case coding
        case wire
        case writing
        case decoding(ImageFormat, any ImageCoder)
    }

    let name: String
    private let kind: Kind

    /// Every target of this build. Each registered coder is one.
    static var names: [String] {
        ["sniffing", "metadata", "placeholders", "http", "coding", "wire", "writing"]
            + coders.keys.map(\.rawValue).sorted()
    }

    private static var coders: [ImageFormat: any ImageCoder] {
        var coders = CoderRegistry.builtIn
        #if HEIF
            // HEIF is fuzzed even if its coder is not registered.
            coders.append(HEIFCoder())
        #endif
        let pairs = coders.flatMap { coder in coder.decodableFormats.map { ($0, coder) } }
        return Dictionary(pairs) { first, _ in first }
    }

    init?(_ name: String) {
        self.name = name
        switch name {
        case "sniffing": kind = .sniffing
        case "metadata": kind = .metadata
        case "placeholders": kind = .placeholders
        case "http": kind = .http
        case "coding": kind = .coding
        case "wire": kind = .wire
        case "writing": kind = .writing
        default:
            let format = ImageFormat(rawValue: name)
            guard let coder = Self.coders[format] else { return nil }
            kind = .decoding(format, coder)
        }
    }

    func run(_ bytes: [UInt8]) {
        switch kind {
        case .sniffing: SniffingFuzz.run(bytes)
        case .metadata: MetadataFuzz.run(bytes)
        case .placeholders: PlaceholderFuzz.run(bytes)
        case .http: HTTPFuzz.run(bytes)
        case .coding: CodingFuzz.run(bytes)
        case .wire: WireFuzz.run(bytes)
        case .writing: WritingFuzz.run(bytes)
        case .decoding(let format, let coder): DecodingFuzz(format: format, coder: coder).run(bytes)
        }
    }
}

extension FuzzTarget {
    /// The longest seed in bytes. Longer ones make every round slow.
    private static let longestSeed = 40_000

    /// Writes the seed files.
    ///
    /// - Returns: the number of files.
    func writeSeeds(to directory: String) -> Int {
        let small = SmallPictures.all().filter { wants($0.format) }.map { ($0.name, $0.bytes) }
        let corpus = Corpus.rows.filter { $0.byteCount <= Self.longestSeed }.compactMap { row in
            Corpus.read(row.path).flatMap { bytes in
                ImageFormat(sniffing: bytes).map(wants) == true ? (row.path, bytes) : nil
            }
        }
        let animations = WritingFuzz.files.filter { ImageFormat(sniffing: $0.1).map(wants) == true }
        var count = 0
        for (name, bytes) in seeds(of: small + corpus + animations) {
            let file = String(name.map { $0 == "/" || $0 == " " ? "-" : $0 })
            guard let stream = fopen("\(directory)/\(file)", "wb") else { continue }
            if fwrite(bytes, 1, bytes.count, stream) == bytes.count { count += 1 }
            fclose(stream)
        }
        return count
    }

    private func wants(_ format: ImageFormat) -> Bool {
        guard case .decoding(let own, let coder) = kind else { return true }
        // Formats of the same coder (TIFF and BigTIFF, HEIC and HEIF) share their seeds, except for PNG and APNG.
        return format == own || own != .png && own != .apng && coder.decodableFormats.contains(format)
    }

    private func seeds(of pictures: [(String, [UInt8])]) -> [(String, [UInt8])] {
        switch kind {
        case .decoding: pictures
        case .sniffing: pictures.map { ($0.0, Array($0.1.prefix(600))) }
        case .http: HTTPFuzz.seeds
        case .coding: CodingFuzz.seeds
        case .wire: WireFuzz.seeds
        case .writing: WritingFuzz.seeds
        case .placeholders: PlaceholderFuzz.seeds
        case .metadata:
            Orientation.allCases.map { ("orientation-\($0.rawValue)", EXIFOrientation.block($0)) }
                + pictures.filter { $0.0.contains("tif") }
                + pictures.flatMap { picture in MetadataFuzz.profile(in: picture.1).map { [(picture.0, $0)] } ?? [] }
        }
    }
}
