/// A request in the one form of which signatures are made (AWS, "Signature Calculations for the Authorization Header").
struct CanonicalRequest {
    let text: String
    /// The names of the headers that are signed, with `;` between.
    let signedHeaders: String

    /// - Parameter headers: all that are signed, also `Host`.
    init(method: String, path: String, query: [S3Field], headers: [S3Field], payload: S3PayloadHash) {
        let headers = Self.merged(headers)
        signedHeaders = headers.map(\.name).joined(separator: ";")
        let lines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        text = [method, path, Self.query(query), lines, signedHeaders, payload.text].joined(separator: "\n")
    }

    /// Sorted by their encoded names and values, byte by byte.
    static func query(_ fields: [S3Field]) -> String {
        fields.map { (PercentEncoding.text($0.name), PercentEncoding.text($0.value)) }.sorted { $0 < $1 }
            .map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// Sorted by their names in lower case. Headers of one name are one, with commas between the values.
    private static func merged(_ headers: [S3Field]) -> [S3Field] {
        var values: [String: [String]] = [:]
        for header in headers { values[header.name.lowercased(), default: []].append(trimmed(header.value)) }
        return values.map { S3Field($0, $1.joined(separator: ",")) }.sorted { $0.name < $1.name }
    }

    /// Without blanks at the ends, and with one where several follow each other.
    private static func trimmed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
