/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable, Codable {
    public var bytes: Int

    public init(_ bytes: Int) { self.bytes = bytes }

    public static let zero = ByteCount(0)
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes + right.bytes) }
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes - right.bytes) }
}

extension ByteCount: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self.init(value) }
}

extension ByteCount: CustomStringConvertible {
    /// Binary units with one decimal: `"512 B"`, `"1.5 KiB"`, `"3.0 MiB"`.
    public var description: String {
        let magnitude = bytes.magnitude
        guard magnitude >= 1024 else { return "\(bytes) B" }
        var (scaled, unit) = (magnitude, 0)
        let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        while scaled >= 1024 << 10, unit < names.count - 1 {
            scaled >>= 10
            unit += 1
        }
        let tenths = (scaled * 10 + 512) >> 10
        return "\(bytes < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(names[unit])"
    }
}
