import ArgumentParser
import Foundation
import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The limits for the size and the time of an input.
struct InputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The longest time for one load, and for which a pipe may send nothing. 0: no limit.", valueName: "SECONDS"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp(
            "The longest input in bytes, with or without a unit: 500k, 20M. Default: 1G for local files, otherwise 64M.",
            valueName: "SIZE"))
    var maxBytes: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The most pixels of a picture that is decoded. Default: 134217728 (128 x 1024 x 1024).", valueName: "N"))
    var maxPixels: Int?

    mutating func validate() throws {
        guard (0...1e9).contains(timeout) else {
            throw ValidationError("--timeout takes a number of seconds, 0 or more")
        }
        if let maxBytes, maxBytes.bytes < 1 { throw ValidationError("--max-bytes takes 1 or more") }
        if let maxPixels, maxPixels < 1 { throw ValidationError("--max-pixels takes 1 or more") }
    }
}

/// Resolves an input on the command line: a file, a URL, standard input, or a named pipe.
enum InputBytes {
    /// The limit for local inputs, which are trusted more than those from the network.
    private static let longestLocal = ByteCount.gibibytes(1)

    static func request(for input: String, _ options: InputOptions) async throws(WebImageError) -> ImageRequest {
        if let pipe = pipe(input, options) {
            return limited(ImageRequest(data: try await pipe.all(), name: input), isLocal: true, options)
        }
        return request(unread: input, options)
    }

    /// The input as a pipe to read; nil if it is not a pipe.
    static func pipe(_ input: String, _ options: InputOptions) -> PipeInput? {
        guard isPipe(input) else { return nil }
        return PipeInput(input, limit: (options.maxBytes ?? longestLocal).bytes, timeout: options.timeout)
    }

    /// The request for the bytes of a pipe, of which no more are read than needed. It can be loaded only once.
    static func request(reading pipe: PipeInput, _ options: InputOptions) -> ImageRequest {
        var request = limited(ImageRequest("pipe:"), isLocal: true, options)
        request.http.loader = PipeLoader(pipe: pipe)
        return request
    }

    /// The request for an input that is not a pipe.
    static func request(unread input: String, _ options: InputOptions) -> ImageRequest {
        var status = stat()
        guard stat(input, &status) == 0 else {
            let isLocal = input.lowercased().hasPrefix("file:")
            return limited(ImageRequest(argument: input), isLocal: isLocal, options)
        }
        // An existing file is read as a file, even if its name looks like a URL.
        return limited(ImageRequest(path: input), isLocal: true, options)
    }

    /// The request for a file, also if its name looks like a URL. Nothing of it is cached.
    static func request(ofFile path: String, _ options: InputOptions) -> ImageRequest {
        var request = limited(ImageRequest(path: path), isLocal: true, options)
        request.caching.policy = .noStore
        return request
    }

    /// Returns all bytes of an original, after they have arrived.
    static func all(of original: ImageBytes) async throws(WebImageError) -> [UInt8] {
        var (bytes, pieces) = ([UInt8](), original.makeAsyncIterator())
        while let piece = try await pieces.next() { bytes += piece.bytes }
        return bytes
    }

    private static func limited(_ request: ImageRequest, isLocal: Bool, _ options: InputOptions) -> ImageRequest {
        var request = request
        if options.timeout > 0 { request.timeout = .seconds(options.timeout) }
        if let pixels = options.maxPixels { request.decoding.limits.pixels = pixels }
        guard let limit = options.maxBytes ?? (isLocal ? longestLocal : nil) else { return request }
        request.http.bodyLimit = limit
        request.decoding.limits.bytes = limit
        return request
    }

    /// Whether an input is standard input, a pipe or a device.
    private static func isPipe(_ input: String) -> Bool {
        var status = stat()
        return input == "-" || stat(input, &status) == 0 && [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    }

    /// - Parameter list: the file with further inputs.
    /// - Throws: `ValidationError` if two inputs need standard input.
    static func checkReadsOnce(_ inputs: [String], list: String? = nil) throws {
        if list == "-", inputs.contains("-") {
            throw ValidationError("--input-list - and the input - both need standard input")
        }
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("standard input (-) can be read only once") }
    }
}
