/// Any text that was given as a URL as it may be shown in messages and logs: without user, password, fragment and the
/// values of query parameters that carry credentials, and of bounded length.
package func redactedURL(_ text: String) -> String {
    let reference = URLReference(text[...])
    if reference.scheme?.lowercased() == "data" {
        return "\(text.prefix { $0 != "," }.prefix(64)),… (\(text.utf8.count) bytes)"
    }
    var shown = reference.scheme.map { "\($0):" } ?? ""
    if let authority = reference.authority {
        let start = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
        shown += "//" + authority[(start ?? authority.startIndex)...]
    }
    shown += reference.path
    if let query = reference.query { shown += "?" + redactedQuery(query) }
    return shown.utf8.count > 2048 ? "\(shown.prefix(2000))…" : shown
}

/// Parameters that grant access: those of signed URLs at the large stores, and the usual names of tokens.
private let secretParameters: Set<String> = [
    "access_token", "api_key", "apikey", "auth", "key", "password", "secret", "sig", "signature", "token",
    "x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-credential", "x-goog-signature",
]

private func redactedQuery(_ query: Substring) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { part in
        guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return String(part) }
        return secretParameters.contains(part[..<equals].lowercased()) ? "\(part[...equals])…" : String(part)
    }.joined(separator: "&")
}
