public import NIOCore

/// Writes values as RESP3.
public enum RESPEncoder {
    /// A command: an array of bulk strings, the only form that servers accept.
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

    public static func write(_ value: RESPValue, to buffer: inout ByteBuffer) {
        switch value {
        case .simpleString(let text): writeLine("+", text, to: &buffer)
        case .error(let text): writeLine("-", text, to: &buffer)
        case .number(let number): writeLine(":", "\(number)", to: &buffer)
        case .double(let number): writeLine(",", text(number), to: &buffer)
        case .bigNumber(let digits): writeLine("(", digits, to: &buffer)
        case .boolean(let isTrue): writeLine("#", isTrue ? "t" : "f", to: &buffer)
        case .null: writeLine("_", "", to: &buffer)
        case .bulkString(let bytes): write("$", bytes, to: &buffer)
        case .verbatimString(let format, let bytes):
            var all = ByteBuffer(string: "\(format):")
            all.writeImmutableBuffer(bytes)
            write("=", all, to: &buffer)
        case .array(let members): write("*", members, to: &buffer)
        case .set(let members): write("~", members, to: &buffer)
        case .push(let members): write(">", members, to: &buffer)
        case .map(let pairs):
            writeHead("%", pairs.count, to: &buffer)
            for pair in pairs {
                write(pair.key, to: &buffer)
                write(pair.value, to: &buffer)
            }
        }
    }

    private static func write(_ type: StaticString, _ members: [RESPValue], to buffer: inout ByteBuffer) {
        writeHead(type, members.count, to: &buffer)
        for member in members { write(member, to: &buffer) }
    }

    private static func write(_ type: StaticString, _ bytes: ByteBuffer, to buffer: inout ByteBuffer) {
        writeHead(type, bytes.readableBytes, to: &buffer)
        buffer.writeImmutableBuffer(bytes)
        buffer.writeStaticString("\r\n")
    }

    private static func writeHead(_ type: StaticString, _ number: Int, to buffer: inout ByteBuffer) {
        writeLine(type, "\(number)", to: &buffer)
    }

    private static func writeLine(_ type: StaticString, _ text: String, to buffer: inout ByteBuffer) {
        buffer.writeStaticString(type)
        // A line end inside the text would end the line early, so line ends are removed.
        buffer.writeString(
            text.utf8.contains { $0 == 0x0D || $0 == 0x0A } ? String(text.filter { !$0.isNewline }) : text)
        buffer.writeStaticString("\r\n")
    }

    private static func text(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return "\(number)"
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
