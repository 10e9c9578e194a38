import WebImageCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One end of a connected pair of sockets. Each message is a value as JSON, followed by bytes. Calls block.
final class PipeChannel: Sendable {
    /// The error if the other end is closed or sends a message that cannot be read.
    static let broken = WebImageError(.decoderUnavailable, "the pipe to the decoder is broken")

    private let socket: Int32

    private init(_ socket: Int32) { self.socket = socket }

    deinit { close(socket) }

    static func makePair() throws(WebImageError) -> (PipeChannel, PipeChannel) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else { throw broken }
        return (PipeChannel(ends[0]), PipeChannel(ends[1]))
    }

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
        private static let quiet = Int32(MSG_NOSIGNAL)
    #elseif canImport(Musl)
        private static let stream = SOCK_STREAM
        private static let quiet = Int32(MSG_NOSIGNAL)
    #else
        private static let stream = SOCK_STREAM
        private static let quiet: Int32 = 0
    #endif

    func send(_ value: some Encodable, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0))
        throws(WebImageError)
    {
        guard let text = try? JSONEncoder().encode(value) else { throw Self.broken }
        let lengths = [UInt32(text.count), UInt32(bytes.count)]
        try lengths.withRawBytes { part throws(WebImageError) in try write(part) }
        try Array(text).withRawBytes { part throws(WebImageError) in try write(part) }
        try write(bytes)
    }

    func receive<Value: Decodable>(_ type: Value.Type = Value.self) throws(WebImageError) -> (Value, [UInt8]) {
        let head = try read(8)
        let lengths = head.withUnsafeBytes { head in
            (Int(head.load(as: UInt32.self)), Int(head.load(fromByteOffset: 4, as: UInt32.self)))
        }
        let text = try read(lengths.0)
        let bytes = try read(lengths.1)
        guard let value = try? JSONDecoder().decode(type, from: Data(text)) else { throw Self.broken }
        return (value, bytes)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { sendQuietly(socket, $0, Self.quiet) }
            guard count > 0 else { throw Self.broken }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ count: Int) throws(WebImageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let received = bytes.withUnsafeMutableBytes {
                recv(socket, $0.baseAddress.map { $0 + done }, count - done, 0)
            }
            guard received > 0 else { throw Self.broken }
            done += received
        }
        return bytes
    }
}

private func sendQuietly(_ socket: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    send(socket, bytes.baseAddress, bytes.count, flags)
}

extension Array {
    /// Calls a function with the elements' memory. The function may throw only a `WebImageError`.
    func withRawBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Result
    ) throws(WebImageError) -> Result {
        try withUnsafeBufferPointer { elements throws(WebImageError) in try body(UnsafeRawBufferPointer(elements)) }
    }
}
