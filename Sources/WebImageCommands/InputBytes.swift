import ArgumentParser
import Foundation
import WebImage

/// How long an input may be, and may take.
struct InputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The most that one load may take; 0: no limit.", valueName: "SECONDS"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp(
            "The longest input to accept, in bytes or with a unit: 500k, 20M. Default: 1G of a local file, else 64M.",
            valueName: "SIZE"))
    var maxBytes: ByteCount?

    mutating func validate() throws {
        guard (0...1e9).contains(timeout) else {
            throw ValidationError("--timeout takes a number of seconds, 0 or more")
        }
        if let maxBytes, maxBytes.bytes < 1 { throw ValidationError("--max-bytes takes 1 or more") }
    }
}

/// What an input on the command line stands for: a file, a URL, standard input, or a pipe with a name.
enum InputBytes {
    /// Of what comes from this machine more is taken than of what a stranger sends.
    private static let longestLocal = ByteCount.gibibytes(1)

    static func request(for input: String, _ options: InputOptions) throws(WebImageError) -> ImageRequest {
        var (request, isLocal) = try found(input, options.maxBytes ?? longestLocal)
        if options.timeout > 0 { request.timeout = .seconds(options.timeout) }
        guard let limit = options.maxBytes ?? (isLocal ? longestLocal : nil) else { return request }
        request.http.bodyLimit = limit
        request.decoding.limits.bytes = limit
        return request
    }

    private static func found(
        _ input: String, _ limit: ByteCount
    ) throws(WebImageError) -> (request: ImageRequest, isLocal: Bool) {
        if input == "-" { return (try request(for: input, from: .standardInput, limit.bytes), true) }
        var status = stat()
        guard stat(input, &status) == 0 else {
            return (ImageRequest(argument: input), input.lowercased().hasPrefix("file:"))
        }
        if [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT), let pipe = FileHandle(forReadingAtPath: input) {
            return (try request(for: input, from: pipe, limit.bytes), true)
        }
        // What is there is a file, whatever scheme its name seems to begin with.
        return (ImageRequest(path: input), true)
    }

    private static func request(
        for input: String, from source: FileHandle, _ limit: Int
    ) throws(WebImageError) -> ImageRequest {
        let data = try? source.read(upToCount: limit + 1)
        let bytes = [UInt8](data ?? Data())
        guard bytes.count <= limit else {
            let name = input == "-" ? "standard input" : "the input"
            throw WebImageError(
                .bodyTooLarge, "\(name) holds more than \(ByteCount(limit)); raise --max-bytes to allow it",
                location: input)
        }
        return ImageRequest(data: bytes, name: input)
    }
}
