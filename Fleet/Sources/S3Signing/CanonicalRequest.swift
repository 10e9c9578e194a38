/// A request in the canonical form that is signed (AWS, "Signature Calculations for the Authorization Header").
struct CanonicalRequest {
    let text: String
    /// The names of the signed headers, separated by `;`.
    let signedHeaders: String

    /// - Parameter headers: all headers to be signed, including `Host`.
    init(method: String, path: String, query: [S3Field], headers: [S3Field], payload: S3PayloadHash) {
        let headers = Self.merged(headers)
        signedHeaders = headers.map(\.name).joined(separator: ";")
        let lines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        text = [method, path, Self.query(query), lines, signedHeaders, payload.text].joined(separator: "\n")
    }

    /// The query, percent-encoded and sorted by encoded names and values, byte by byte.
    static func query(_ fields: [S3Field]) -> String {
        fields.map { (PercentEncoding.text($0.name), PercentEncoding.text($0.value)) }.sorted { $0 < $1 }
            .map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// The headers with names in lower case, sorted by name. Headers of the same name are merged, with commas between
    /// the values.
    private static func merged(_ headers: [S3Field]) -> [S3Field] {
        var values: [String: [String]] = [:]
        for header in headers { values[header.name.lowercased(), default: []].append(trimmed(header.value)) }
        return values.map { S3Field($0, $1.joined(separator: ",")) }.sorted { $0.name < $1.name }
    }

    /// The value without blanks at its ends, and with single blanks inside.
    private static func trimmed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
