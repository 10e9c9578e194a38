public import NIOCore

/// Writes commands as RESP3.
public enum RESPEncoder {
    /// Writes an array of bulk strings, the only form of a command that servers accept.
    public static func write(command: [RESPArgument], to buffer: inout ByteBuffer) {
        writeHead("*", command.count, to: &buffer)
        for argument in command {
            switch argument.content {
            case .text(let text):
                writeHead("$", text.utf8.count, to: &buffer)
                buffer.writeString(text)
            case .bytes(let bytes):
                writeHead("$", bytes.readableBytes, to: &buffer)
                buffer.writeImmutableBuffer(bytes)
            }
            buffer.writeStaticString("\r\n")
        }
    }

    private static func writeHead(_ type: StaticString, _ number: Int, to buffer: inout ByteBuffer) {
        buffer.writeStaticString(type)
        buffer.writeString("\(number)\r\n")
    }
}

/// One word of a command.
public struct RESPArgument: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    enum Content: Hashable, Sendable {
        case text(String)
        case bytes(ByteBuffer)
    }

    let content: Content

    public init(_ text: String) { content = .text(text) }
    public init(_ bytes: ByteBuffer) { content = .bytes(bytes) }
    public init(_ number: Int) { content = .text("\(number)") }
    public init(stringLiteral text: String) { content = .text(text) }

    /// The approximate length of the argument on the wire, in bytes.
    public var length: Int {
        switch content {
        case .text(let text): text.utf8.count + 8
        case .bytes(let bytes): bytes.readableBytes + 16
        }
    }
}
