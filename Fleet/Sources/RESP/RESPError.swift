/// Why bytes are not valid RESP3, or exceed a limit.
public enum RESPError: Error, Hashable, Sendable {
    /// A value begins with a byte that names no type.
    case unknownType(UInt8)
    /// A value of a type that Redis does not send: streamed strings and aggregates.
    case unsupported
    /// A line has no number, or not the one that its type allows.
    case malformedNumber
    case malformedBoolean
    case malformedDouble
    case malformedVerbatimString
    /// A null, or the end of a string, is followed by something else than the end of a line.
    case missingLineEnd
    case lineTooLong
    case stringTooLong
    case tooDeep
    case tooManyMembers
    /// All values of one frame together have more bytes than ``RESPLimits/frame``.
    case frameTooLong
}

/// The limits for RESP3 from a server. Anything that announces more is refused before memory is allocated for it.
public struct RESPLimits: Hashable, Sendable {
    /// Bytes of a line: of a simple string, an error or a number. Default 64 KiB.
    public var line = 64 << 10
    /// Bytes of one string. Default 16 MiB.
    public var string = 16 << 20
    /// How deeply aggregates may be nested. Default 16.
    public var depth = 16
    /// The number of values in one frame: aggregates and their members. Default 1 Mi.
    public var members = 1 << 20
    /// Bytes of one frame. Default 32 MiB.
    public var frame = 32 << 20

    public init() {}
}
