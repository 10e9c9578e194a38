/// What an answer's `Vary` says (RFC 9110 section 12.5.5): which fields of a request must be the same for the answer to
/// be good for it.
enum VaryRule: Hashable, Sendable {
    /// Names in lower case, in order, each once. Empty: any request will do.
    case fields([String])
    /// `*`, or nothing that can be understood: no other request will do.
    case never

    private static let mostFields = 32

    init(_ value: String?) {
        guard let value else {
            self = .fields([])
            return
        }
        let names = Set(FieldScanner.elements(of: value).map { $0.lowercased() })
        let isUnderstood = names.allSatisfy { FieldScanner.isToken($0) && $0 != "*" } && names.count <= Self.mostFields
        self = isUnderstood ? .fields(names.sorted()) : .never
    }

    /// A field's value so that two which mean the same are the same text as far as that is known without knowing the
    /// field: no blanks around the elements of a list (RFC 9111 section 4.1).
    static func normalised(_ value: String) -> String { FieldScanner.elements(of: value).joined(separator: ",") }
}
