/// Encodes and decodes a group of options. Only values that differ from their defaults are encoded, so that the output
/// of older versions can be read.
package struct WrittenForm<Group> {
    /// One option of the group.
    package struct Option {
        fileprivate let encode: (_ group: Group, _ standard: Group, inout Encoding) throws -> Void
        fileprivate let decode: (inout Group, Decoding) throws -> Void

        /// - Parameters:
        ///   - name: its key in the encoding.
        ///   - path: the property.
        package static func option<Value: Codable & Equatable>(
            _ name: String, _ path: WritableKeyPath<Group, Value>
        ) -> Self {
            let key = OptionName(stringValue: name)
            return Self { group, standard, container in
                let value = group[keyPath: path]
                if value != standard[keyPath: path] { try container.encode(value, forKey: key) }
            } decode: { group, container in
                if let value = try container.decodeIfPresent(Value.self, forKey: key) { group[keyPath: path] = value }
            }
        }
    }

    fileprivate typealias Encoding = KeyedEncodingContainer<OptionName>
    fileprivate typealias Decoding = KeyedDecodingContainer<OptionName>

    private let standard: Group
    private let options: [Option]
    private let refusal: (Group) -> String?

    /// - Parameters:
    ///   - standard: every option at its default.
    ///   - options: the encoded options.
    ///   - refusal: why a value cannot be encoded, because it holds a closure, an object or a secret. Nil if it can.
    package init(_ standard: Group, _ options: [Option], refusal: @escaping (Group) -> String? = { _ in nil }) {
        self.standard = standard
        self.options = options
        self.refusal = refusal
    }

    package func read(from decoder: any Decoder) throws -> Group {
        let container = try decoder.container(keyedBy: OptionName.self)
        var group = standard
        for option in options { try option.decode(&group, container) }
        return group
    }

    /// - Throws: `EncodingError.invalidValue` for a value that cannot be encoded.
    package func write(_ group: Group, to encoder: any Encoder) throws {
        if let refusal = refusal(group) {
            // The error does not contain the group itself: errors are printed, and the group may hold secrets.
            throw EncodingError.invalidValue(
                "\(Group.self)", EncodingError.Context(codingPath: encoder.codingPath, debugDescription: refusal))
        }
        var container = encoder.container(keyedBy: OptionName.self)
        for option in options { try option.encode(group, standard, &container) }
    }
}

private struct OptionName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}
