public import NIOCore

/// A value of RESP3, the protocol that Redis and Valkey speak.
public indirect enum RESPValue: Hashable, Sendable {
    case simpleString(String)
    case bulkString(ByteBuffer)
    case verbatimString(format: String, ByteBuffer)
    /// A refusal in the server's words, such as `ERR unknown command`.
    case error(String)
    case number(Int64)
    case double(Double)
    /// The digits of a whole number, with a sign if it is negative.
    case bigNumber(String)
    case boolean(Bool)
    case null
    case array([RESPValue])
    case set([RESPValue])
    case map([RESPPair])
    /// A message that is not an answer to a command, such as one of a channel.
    case push([RESPValue])
}

/// A key of a map with its value. Maps keep their order.
public struct RESPPair: Hashable, Sendable {
    public var key: RESPValue
    public var value: RESPValue

    public init(_ key: RESPValue, _ value: RESPValue) {
        self.key = key
        self.value = value
    }
}

extension RESPValue {
    /// The bytes of a string of any kind.
    public var bytes: ByteBuffer? {
        switch self {
        case .bulkString(let bytes), .verbatimString(_, let bytes): bytes
        case .simpleString(let text): ByteBuffer(string: text)
        default: nil
        }
    }

    /// The text of a string of any kind. Bytes that are not UTF-8 are replaced.
    public var text: String? {
        if case .simpleString(let text) = self { return text }
        return bytes.map { String(buffer: $0) }
    }

    /// The members of an array, a set or a push.
    public var members: [RESPValue]? {
        switch self {
        case .array(let members), .set(let members), .push(let members): members
        default: nil
        }
    }

    /// The members of a map.
    public var pairs: [RESPPair]? {
        if case .map(let pairs) = self { return pairs }
        return nil
    }

    /// The whole number, even if the server sent it as text.
    public var integer: Int? {
        if case .number(let number) = self { return Int(exactly: number) }
        return text.flatMap { Int($0) }
    }
}
