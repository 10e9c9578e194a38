import WebImageCore

/// Returns a text that was given as a URL in a form for messages and logs: without user, password, fragment and the
/// values of query parameters that carry credentials, and of limited length.
package func redactedURL(_ text: String) -> String {
    let text = text.first?.isWhitespace == true ? text.drop { $0.isWhitespace } : text[...]
    let reference = URLReference(text)
    let scheme = reference.scheme?.lowercased()
    if scheme == "data" {
        return "\(text.prefix { $0 != "," }.prefix(64)),… (\(text.utf8.count) bytes)"
    }
    if let scheme, let cut = textAfterBrokenUser(text, reference) { return redactedURL("\(scheme)://\(cut)") }
    if let cut = textAfterUserWithoutScheme(text, reference) { return redactedURL(String(cut)) }
    var shown = reference.scheme.map { "\($0):" } ?? ""
    if let authority = reference.authority {
        let start = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
        let host = authority[(start ?? authority.startIndex)...]
        // An invalid port may be a password without its host.
        let colon = Authority(host) == nil ? host.utf8.firstIndex(of: UInt8(ascii: ":")) : nil
        shown += "//" + (colon.map { "\(host[...$0])…" } ?? "\(host)")
    }
    shown += reference.path
    if let query = reference.query { shown += "?" + redactedQuery(query) }
    return shown.utf8.count > 2048 ? "\(shown.prefix(2000))…" : shown
}

/// Returns what follows user and password if these are not encoded correctly, so that they extend into path, query or
/// fragment: `https://user:pa/ss@host`. In doubt more is cut. Nil if there is no sign of that.
private func textAfterBrokenUser(_ text: Substring, _ reference: URLReference) -> Substring? {
    guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let behind = text[text.utf8.index(after: at)...]
    guard let authority = reference.authority else {
        // After `https:` with one slash or none, the rest was meant as an authority.
        let isWeb = ["http", "https"].contains(reference.scheme?.lowercased())
        return isWeb ? behind.drop { $0 == "/" } : nil
    }
    guard authority.utf8.contains(UInt8(ascii: ":")), Authority(authority) == nil else { return nil }
    return behind
}

/// Returns what follows user and password in a text without a scheme: `user:password@host/a.jpg`. Nil for paths and names, and
/// if there is no sign of a password.
private func textAfterUserWithoutScheme(_ text: Substring, _ reference: URLReference) -> Substring? {
    guard reference.authority == nil, !reference.path.hasPrefix("/"), !text.hasPrefix("."),
        let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), text[..<at].utf8.contains(UInt8(ascii: ":"))
    else { return nil }
    let behind = text[text.utf8.index(after: at)...]
    return behind.utf8.contains(UInt8(ascii: "/")) ? behind : nil
}

/// Parameters that grant access: those of signed URLs at the large stores, and the usual names of tokens.
private let secretParameters: Set<String> = [
    "access_key", "access_token", "accesskey", "api_key", "apikey", "api-key", "api_token", "auth", "auth_token",
    "authorization", "awsaccesskeyid", "client_secret", "credential", "id_token", "jsessionid", "jwt", "key", "passwd",
    "password", "phpsessid", "private_token", "pwd", "refresh_token", "sas", "secret", "session", "session_id",
    "session_token", "sessionid", "sid", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token",
    "x-amz-signature", "x-goog-credential", "x-goog-signature",
]

private func redactedQuery(_ query: Substring) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { part in
        guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return String(part) }
        let name = String(decoding: PercentEncoding.decoded(part[..<equals].utf8), as: UTF8.self)
        return secretParameters.contains(name.lowercased()) ? "\(part[...equals])…" : String(part)
    }.joined(separator: "&")
}
