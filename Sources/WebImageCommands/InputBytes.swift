import ArgumentParser
import Foundation
import WebImage
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How long an input may be, and may take.
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

    static func request(for input: String, _ options: InputOptions) async throws(WebImageError) -> ImageRequest {
        if isPipe(input) {
            let limit = options.maxBytes ?? longestLocal
            return limited(try await pipe(input, limit.bytes, options.timeout), isLocal: true, options)
        }
        return request(unread: input, options)
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

    /// - Throws: for inputs that want standard input twice.
    static func checkReadsOnce(_ inputs: [String]) throws {
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("standard input (-) can be read only once") }
    }

    /// What comes from standard input, a pipe or a device, read by a thread of its own: it may wait for long.
    private static func pipe(
        _ input: String, _ limit: Int, _ timeout: Double
    ) async throws(WebImageError) -> ImageRequest {
        let answer: Result<[UInt8], WebImageError> = await withCheckedContinuation { continuation in
            let runs = startThread(named: "wi-input") {
                do throws(WebImageError) {
                    continuation.resume(returning: .success(try read(input, limit, timeout)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !runs {
                continuation.resume(
                    returning: .failure(WebImageError(.cannotRead, "no thread could be started", location: input)))
            }
        }
        return ImageRequest(data: try answer.get(), name: input)
    }

    private static func read(_ input: String, _ limit: Int, _ timeout: Double) throws(WebImageError) -> [UInt8] {
        let name = input == "-" ? "standard input" : "the input"
        func failed() -> WebImageError {
            WebImageError(.cannotRead, "\(name) cannot be read: \(Console.reason(of: errno))", location: input)
        }
        // Without waiting for who writes into it: that has its limit below.
        let file = input == "-" ? 0 : open(input, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failed() }
        defer { if file > 0 { close(file) } }
        let patience = timeout > 0 ? Int32(min(timeout * 1000, 2e9).rounded(.up)) : -1
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, patience)
            if ready == 0 {
                throw WebImageError(
                    .deadlineExceeded, "nothing came from \(name) for \(timeout) seconds; --timeout allows more",
                    location: input)
            }
            let start = bytes.count
            let room = min(256 << 10, limit + 1 - start)
            bytes.append(contentsOf: repeatElement(0, count: room))
            let count = bytes.withUnsafeMutableBytes { systemRead(file, $0.baseAddress.map { $0 + start }, room) }
            let reason = errno
            bytes.removeLast(room - max(count, 0))
            if count == 0 { return bytes }
            errno = reason
            if count < 0, ![EINTR, EAGAIN].contains(reason) { throw failed() }
        }
        throw WebImageError(
            .bodyTooLarge, "\(name) is longer than \(ByteCount(limit)); raise --max-bytes to allow it", location: input
        )
    }
}

/// `read(2)`, whose name the type above has, too.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, bytes, count)
}
