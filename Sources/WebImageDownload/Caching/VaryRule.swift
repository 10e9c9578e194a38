/// The meaning of an answer's `Vary` (RFC 9110 section 12.5.5): the request fields that must be the same for the answer
/// to be reused.
enum VaryRule: Hashable, Sendable {
    /// Names in lower case, sorted, without duplicates. Empty: the answer is valid for any request.
    case fields([String])
    /// `*`, or an invalid value: the answer is valid for no other request.
    case never

    private static let maxFields = 32

    init(_ value: String?) {
        guard let value else {
            self = .fields([])
            return
        }
        let names = Set(FieldScanner.elements(of: value).map { $0.lowercased() })
        let isUnderstood = names.allSatisfy { FieldScanner.isToken($0) && $0 != "*" } && names.count <= Self.maxFields
        self = isUnderstood ? .fields(names.sorted()) : .never
    }

    /// Normalizes a field's value so that equivalent values become the same text, as far as this is possible without
    /// knowing the field: no blanks around the elements of a list (RFC 9111 section 4.1).
    static func normalised(_ value: String) -> String { FieldScanner.elements(of: value).joined(separator: ",") }
}
