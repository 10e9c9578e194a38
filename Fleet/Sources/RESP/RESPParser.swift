public import NIOCore

/// Parses values from bytes that arrive in pieces.
///
/// It keeps its position between pieces, so that a value that arrives byte by byte costs no more than one that arrives
/// at once. Memory grows with the received bytes, never with an announced length. After an error it cannot continue:
/// the connection must be closed.
public struct RESPParser: Sendable {
    private enum Aggregate: Sendable {
        case array, set, push, map
        /// Additional information about a value, which is ignored.
        case attribute
    }

    /// An incomplete aggregate.
    private struct Open: Sendable {
        var kind: Aggregate
        var left: Int
        var members: [RESPValue] = []
    }

    private enum StringKind: Sendable {
        case bulk, error, verbatim
    }

    private let limits: RESPLimits
    private var buffer = ByteBuffer()
    private var open: [Open] = []
    /// A string whose header has arrived, with its announced length.
    private var pending: (kind: StringKind, length: Int)?
    /// Bytes of the current line that were searched for a line end.
    private var searched = 0
    private var frameBytes = 0
    private var frameMembers = 0

    public init(_ limits: RESPLimits = RESPLimits()) {
        self.limits = limits
    }

    public mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            if buffer.readerIndex > 64 << 10 { buffer.discardReadBytes() }
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next complete value; nil if more bytes are needed.
    public mutating func next() throws(RESPError) -> RESPValue? {
        while true {
            guard let value = try readPart() else { return nil }
            if let whole = try close(value) {
                (frameBytes, frameMembers) = (0, 0)
                return whole
            }
        }
    }

    // MARK: - Parts

    /// A parsed part: a value, or the header of an aggregate.
    private enum Part {
        case value(RESPValue)
        case opened
    }

    private mutating func readPart() throws(RESPError) -> Part? {
        if let pending { return try readString(pending.kind, pending.length) }
        guard let line = try readLine() else { return nil }
        return try readHead(line)
    }

    /// A line without its end.
    private mutating func readLine() throws(RESPError) -> ByteBuffer? {
        let view = buffer.readableBytesView
        guard let end = view.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) else {
            searched = view.count
            guard searched <= limits.line else { throw .lineTooLong }
            return nil
        }
        searched = 0
        let length = end - view.startIndex
        guard length <= limits.line else { throw .lineTooLong }
        guard length > 0, view[end - 1] == UInt8(ascii: "\r"), var line = buffer.readSlice(length: length + 1) else {
            throw .missingLineEnd
        }
        try count(length + 1)
        line.moveWriterIndex(to: line.writerIndex - 2)
        return line
    }

    private mutating func readHead(_ line: ByteBuffer) throws(RESPError) -> Part? {
        guard let type = line.readableBytesView.first else { throw .missingLineEnd }
        let rest = line.getSlice(at: line.readerIndex + 1, length: line.readableBytes - 1) ?? ByteBuffer()
        try countMember()
        switch type {
        case UInt8(ascii: "+"): return .value(.simpleString(String(buffer: rest)))
        case UInt8(ascii: "-"): return .value(.error(String(buffer: rest)))
        case UInt8(ascii: ":"): return .value(.number(try Self.number(rest)))
        case UInt8(ascii: "_"):
            guard rest.readableBytes == 0 else { throw .missingLineEnd }
            return .value(.null)
        case UInt8(ascii: "#"): return .value(.boolean(try Self.boolean(rest)))
        case UInt8(ascii: ","): return .value(.double(try Self.double(rest)))
        case UInt8(ascii: "("): return .value(.bigNumber(try Self.bigNumber(rest)))
        case UInt8(ascii: "$"): return try readStringHead(.bulk, rest)
        case UInt8(ascii: "!"): return try readStringHead(.error, rest)
        case UInt8(ascii: "="): return try readStringHead(.verbatim, rest)
        case UInt8(ascii: "*"): return try openAggregate(.array, rest)
        case UInt8(ascii: "~"): return try openAggregate(.set, rest)
        case UInt8(ascii: ">"): return try openAggregate(.push, rest)
        case UInt8(ascii: "%"): return try openAggregate(.map, rest)
        case UInt8(ascii: "|"): return try openAggregate(.attribute, rest)
        default: throw .unknownType(type)
        }
    }

    private mutating func readStringHead(_ kind: StringKind, _ rest: ByteBuffer) throws(RESPError) -> Part? {
        guard let length = try length(rest) else { return .value(.null) }
        guard length <= limits.string else { throw .stringTooLong }
        guard frameBytes + length <= limits.frame else { throw .frameTooLong }
        pending = (kind, length)
        return try readString(kind, length)
    }

    private mutating func readString(_ kind: StringKind, _ length: Int) throws(RESPError) -> Part? {
        guard buffer.readableBytes >= length + 2, let bytes = buffer.readSlice(length: length),
            let end = buffer.readInteger(as: UInt16.self)
        else { return nil }
        guard end == 0x0D0A else { throw .missingLineEnd }
        pending = nil
        try count(length + 2)
        switch kind {
        case .bulk: return .value(.bulkString(bytes))
        case .error: return .value(.error(String(buffer: bytes)))
        case .verbatim:
            guard let format = bytes.getString(at: bytes.readerIndex, length: 3),
                bytes.getInteger(at: bytes.readerIndex + 3, as: UInt8.self) == UInt8(ascii: ":"),
                let text = bytes.getSlice(at: bytes.readerIndex + 4, length: length - 4)
            else { throw .malformedVerbatimString }
            return .value(.verbatimString(format: format, text))
        }
    }

    // MARK: - Aggregates

    private mutating func openAggregate(_ kind: Aggregate, _ rest: ByteBuffer) throws(RESPError) -> Part? {
        guard let count = try length(rest) else { return .value(.null) }
        let isPairs = kind == .map || kind == .attribute
        guard count <= limits.members, frameMembers + count * (isPairs ? 2 : 1) <= limits.members else {
            throw .tooManyMembers
        }
        guard open.count < limits.depth else { throw .tooDeep }
        open.append(Open(kind: kind, left: isPairs ? count * 2 : count))
        return .opened
    }

    /// Adds a part to its aggregate, and closes aggregates that are complete.
    ///
    /// - Returns: a top-level value.
    private mutating func close(_ part: Part) throws(RESPError) -> RESPValue? {
        var value: RESPValue? = if case .value(let value) = part { value } else { nil }
        while true {
            guard let last = open.indices.last else { return value }
            if let member = value {
                open[last].members.append(member)
                open[last].left -= 1
            }
            guard open[last].left == 0 else { return nil }
            let closed = open.removeLast()
            value =
                switch closed.kind {
                case .array: .array(closed.members)
                case .set: .set(closed.members)
                case .push: .push(closed.members)
                case .map:
                    .map(
                        stride(from: 0, to: closed.members.count, by: 2).map {
                            RESPPair(closed.members[$0], closed.members[$0 + 1])
                        })
                case .attribute: nil
                }
            // The value of an attribute is still to follow.
            if value == nil { return nil }
        }
    }

    // MARK: - Limits

    private mutating func count(_ bytes: Int) throws(RESPError) {
        frameBytes += bytes
        guard frameBytes <= limits.frame else { throw .frameTooLong }
    }

    private mutating func countMember() throws(RESPError) {
        frameMembers += 1
        guard frameMembers <= limits.members + limits.depth else { throw .tooManyMembers }
    }

    // MARK: - Lines

    /// A length; nil for RESP2's null.
    private func length(_ line: ByteBuffer) throws(RESPError) -> Int? {
        if line.readableBytesView.first == UInt8(ascii: "?") { throw .unsupported }
        let number = try Self.number(line)
        if number == -1 { return nil }
        guard number >= 0, let length = Int(exactly: number) else { throw .malformedNumber }
        return length
    }

    private static func number(_ line: ByteBuffer) throws(RESPError) -> Int64 {
        // The longest number is `Int64.min`, with its sign.
        guard (1...20).contains(line.readableBytes), let number = Int64(String(buffer: line)) else {
            throw .malformedNumber
        }
        return number
    }

    private static func boolean(_ line: ByteBuffer) throws(RESPError) -> Bool {
        switch String(buffer: line) {
        case "t": return true
        case "f": return false
        default: throw .malformedBoolean
        }
    }

    private static func double(_ line: ByteBuffer) throws(RESPError) -> Double {
        let text = String(buffer: line)
        switch text {
        case "inf": return .infinity
        case "-inf": return -.infinity
        case "nan", "-nan": return .nan
        default:
            // Excludes other forms that Swift accepts: hexadecimal, "infinity".
            let allowed = Set("0123456789+-.eE".utf8)
            guard text.utf8.allSatisfy({ allowed.contains($0) }), let number = Double(text) else {
                throw .malformedDouble
            }
            return number
        }
    }

    private static func bigNumber(_ line: ByteBuffer) throws(RESPError) -> String {
        let text = String(buffer: line)
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformedNumber }
        return text
    }
}
