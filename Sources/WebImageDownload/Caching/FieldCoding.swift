/// Encodes names and values as bytes: a version, then for each name and value its length in four bytes, little-endian,
/// and its UTF-8.
enum FieldCoding {
    typealias Field = StoredResponse.Field

    private static let version: UInt8 = 1
    /// We never write more than this.
    private static let maxBytes = 256 << 10

    static func encode(_ fields: [Field]) -> [UInt8] {
        var bytes = [version]
        for field in fields {
            for text in [field.name, field.value] {
                withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
                bytes.append(contentsOf: text.utf8)
            }
        }
        return bytes
    }

    /// Nil if the bytes are truncated, of another version, or not text.
    static func decode(_ bytes: [UInt8]) -> [Field]? {
        guard bytes.first == version, bytes.count <= maxBytes else { return nil }
        var rest = bytes.dropFirst()
        var fields: [Field] = []
        while !rest.isEmpty {
            guard let name = text(&rest), let value = text(&rest) else { return nil }
            fields.append(Field(name: name, value: value))
        }
        return fields
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.count >= 4 else { return nil }
        let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return String(validating: rest.prefix(length), as: UTF8.self)
    }
}
