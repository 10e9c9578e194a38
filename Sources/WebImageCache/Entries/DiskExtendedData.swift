/// A type whose values are stored with an entry. It corresponds to SDWebImage's extended data, but is typed and
/// versioned.
///
/// ```
/// struct Caption: DiskExtendedData {
///     static let name = "org.example.caption"
///     static let version: UInt32 = 1
///     var text: String
///     var encoded: [UInt8] { Array(text.utf8) }
///     init?(_ bytes: [UInt8], version: UInt32) { ... }
/// }
/// ```
public protocol DiskExtendedData: Sendable {
    /// A permanent, unique name of the type, such as a reverse domain name.
    static var name: String { get }
    /// The version of ``encoded``.
    static var version: UInt32 { get }
    var encoded: [UInt8] { get }
    /// - Parameters:
    ///   - bytes: bytes from ``encoded``.
    ///   - version: the version with which the bytes were written. It is higher than ``version`` if a newer program
    ///     wrote them.
    /// - Returns: nil if the bytes cannot be read; the value then counts as missing.
    init?(_ bytes: [UInt8], version: UInt32)
}

extension DiskMetadata {
    /// Returns the value of a type that is stored with the entry; nil if there is none, or none that the type can read.
    public func extendedData<Value: DiskExtendedData>(_ type: Value.Type) -> Value? {
        typedData.first { $0.name == Value.name }.flatMap { Value($0.bytes, version: $0.version) }
    }

    /// Sets the value of a type, and replaces the previous one.
    public mutating func setExtendedData<Value: DiskExtendedData>(_ value: Value) {
        removeExtendedData(Value.self)
        typedData.append(TypedData(name: Value.name, version: Value.version, bytes: value.encoded))
    }

    public mutating func removeExtendedData<Value: DiskExtendedData>(_ type: Value.Type) {
        typedData.removeAll { $0.name == Value.name }
    }
}
