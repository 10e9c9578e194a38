import NIOCore
import RESP

/// Writes values as RESP3, as a server does.
enum RESPWriter {
    static func write(_ value: RESPValue, to buffer: inout ByteBuffer) {
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
        buffer.writeString(text)
        buffer.writeStaticString("\r\n")
    }

    private static func text(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return "\(number)"
    }
}
