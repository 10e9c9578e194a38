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

/// How large an input may be, and how long it may take.
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

/// What an input on the command line stands for: a file, a URL, standard input, or a pipe with a name.
enum InputBytes {
    /// Of what comes from this machine more is taken than of what a stranger sends.
    private static let longestLocal = ByteCount.gibibytes(1)

    static func request(for input: String, _ options: InputOptions) async throws(WebImageError) -> ImageRequest {
        if let pipe = pipe(input, options) {
            return limited(ImageRequest(data: try await pipe.all(), name: input), isLocal: true, options)
        }
        return request(unread: input, options)
    }

    /// The input as a pipe that is to be read; nil if it is none.
    static func pipe(_ input: String, _ options: InputOptions) -> PipeInput? {
        guard isPipe(input) else { return nil }
        return PipeInput(input, limit: (options.maxBytes ?? longestLocal).bytes, timeout: options.timeout)
    }

    /// The request for the bytes of a pipe, which are read as far as they are needed. It can be loaded only once.
    static func request(reading pipe: PipeInput, _ options: InputOptions) -> ImageRequest {
        var request = limited(ImageRequest("pipe:"), isLocal: true, options)
        request.http.loader = PipeLoader(pipe: pipe)
        return request
    }

    /// The request for an input that is no pipe.
    static func request(unread input: String, _ options: InputOptions) -> ImageRequest {
        var status = stat()
        guard stat(input, &status) == 0 else {
            let isLocal = input.lowercased().hasPrefix("file:")
            return limited(ImageRequest(argument: input), isLocal: isLocal, options)
        }
        // What is there is a file, whatever scheme its name seems to begin with.
        return limited(ImageRequest(path: input), isLocal: true, options)
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
    /// - Throws: for inputs that want standard input twice.
    static func checkReadsOnce(_ inputs: [String], list: String? = nil) throws {
        if list == "-", inputs.contains("-") {
            throw ValidationError("--input-list - and the input - both need standard input")
        }
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("standard input (-) can be read only once") }
    }
}
