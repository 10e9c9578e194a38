/// Encodes values for the other end of a socket on the same machine: numbers in native byte order, everything else
/// after its length.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ value: UInt8) { bytes.append(value) }

    mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func put(_ value: Int) { put(UInt64(bitPattern: Int64(value))) }

    mutating func put(_ value: Double) { put(value.bitPattern) }

    mutating func put(_ value: UInt64) { withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) } }

    mutating func put(_ value: [UInt8]) {
        put(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func put(_ value: String) { put(Array(value.utf8)) }

    mutating func put(_ value: Duration) {
        let (seconds, attoseconds) = value.components
        put(Int(seconds))
        put(Int(attoseconds))
    }

    mutating func put<Value>(_ value: Value?, _ body: (inout WireWriter, Value) -> Void) {
        put(value != nil)
        if let value { body(&self, value) }
    }

    mutating func put<Value>(_ values: [Value], _ body: (inout WireWriter, Value) -> Void) {
        put(values.count)
        for value in values { body(&self, value) }
    }
}

/// Decodes such bytes, which are not trusted: lengths are checked against the available bytes.
struct WireReader {
    /// The bytes are not a valid value.
    struct Fault: Error {}

    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    /// - Throws: if bytes are left over.
    func end() throws(Fault) { guard rest.isEmpty else { throw Fault() } }

    private mutating func take(_ count: Int) throws(Fault) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= rest.count else { throw Fault() }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func byte() throws(Fault) -> UInt8 { try take(1)[0] }

    mutating func bool() throws(Fault) -> Bool {
        let value = try byte()
        guard value <= 1 else { throw Fault() }
        return value == 1
    }

    mutating func word() throws(Fault) -> UInt64 { try take(8).loadUnaligned(as: UInt64.self) }

    mutating func int() throws(Fault) -> Int { Int(Int64(bitPattern: try word())) }

    mutating func double() throws(Fault) -> Double { Double(bitPattern: try word()) }

    mutating func bytes() throws(Fault) -> [UInt8] { Array(try take(try int())) }

    /// Invalid UTF-8 becomes replacement characters.
    mutating func string() throws(Fault) -> String { String(decoding: try take(try int()), as: UTF8.self) }

    mutating func duration() throws(Fault) -> Duration {
        let seconds = try int()
        let attoseconds = try int()
        // `abs` would trap for the smallest number.
        guard seconds.magnitude < 1 << 50, attoseconds.magnitude < 1_000_000_000_000_000_000 else { throw Fault() }
        return Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
    }

    mutating func optional<Value>(_ body: (inout WireReader) throws(Fault) -> Value) throws(Fault) -> Value? {
        try bool() ? try body(&self) : nil
    }

    /// - Parameter size: the minimum size of an element in bytes, so that a false count cannot allocate more than there
    ///   is.
    mutating func array<Value>(
        ofAtLeast size: Int, _ body: (inout WireReader) throws(Fault) -> Value
    ) throws(Fault) -> [Value] {
        let count = try int()
        guard count >= 0, count <= rest.count / max(size, 1) else { throw Fault() }
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try body(&self)) }
        return values
    }
}

/// A value that can be sent to or from a worker.
protocol WireValue {
    func write(to writer: inout WireWriter)
    /// - Throws: if the bytes are not a valid value.
    init(from reader: inout WireReader) throws(WireReader.Fault)
}

extension WireValue {
    var wireBytes: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// - Throws: if the bytes are not a valid value, or longer than that.
    init(wireBytes: UnsafeRawBufferPointer) throws(WireReader.Fault) {
        var reader = WireReader(wireBytes)
        try self.init(from: &reader)
        try reader.end()
    }
}

extension WireWriter {
    mutating func put(_ value: some WireValue) { value.write(to: &self) }

    mutating func put(_ value: (some WireValue)?) { put(value) { $0.put($1) } }
}

extension WireReader {
    mutating func value<Value: WireValue>(_ type: Value.Type = Value.self) throws(Fault) -> Value {
        try Value(from: &self)
    }

    mutating func optionalValue<Value: WireValue>(_ type: Value.Type = Value.self) throws(Fault) -> Value? {
        try optional { (reader) throws(Fault) in try Value(from: &reader) }
    }
}
