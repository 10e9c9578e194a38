import HTTPTypes
import Synchronization
import WebImageCore

/// The information that is collected when a load begins, before a cache is asked: the request as its modifier leaves
/// it, and the current user.
///
/// Requests with different marks share no transfer.
package struct PreparedRequest: Hashable, Sendable {
    /// The first request as the modifier left it; nil if there is no modifier, or it failed and will be asked again.
    var outgoing: OutgoingRequest?
    /// The jar's cookies for the URL.
    let cookies: String?
    private let mark: String

    init(mark: [String], outgoing: OutgoingRequest?, cookies: String?) {
        self.mark = mark.joined(separator: "\n")
        self.outgoing = outgoing
        self.cookies = cookies
    }

    package static func == (one: Self, other: Self) -> Bool { one.mark == other.mark }

    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }
}

/// Collects the content of a ``PreparedRequest`` for one request and one snapshot.
struct RequestPreparation: Sendable {
    private let request: DownloadRequest
    private let url: WebURL
    private let snapshot: ConfigurationSnapshot
    let modifier: RequestModifier?

    /// Nil for a request that needs no preparation, or that was prepared before.
    init?(_ resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot) {
        guard let url = resolved.web, resolved.request.prepared == nil else { return nil }
        request = resolved.request
        let options = request.changedOptions
        modifier = options?.value.requestModifier ?? snapshot.configuration.requestModifier
        guard modifier != nil || options?.value.handlesCookies == true || options?.value.netrcFile != nil else {
            return nil
        }
        self.url = url
        self.snapshot = snapshot
    }

    /// The prepared request; nil if the modifier must be awaited.
    func atOnce() -> PreparedRequest? {
        guard let modifier else { return prepared(nil) }
        guard let change = modifier.change else { return nil }
        var changed = outgoing
        guard (try? change(&changed)) != nil else { return failed }
        return prepared(changed)
    }

    func waiting() async -> PreparedRequest {
        guard let modifier else { return prepared(nil) }
        guard let changed = try? await modifier.modify(outgoing) else { return failed }
        return prepared(changed)
    }

    /// The result if the modifier fails. What would have been sent is not known, so the mark is unique and the load
    /// cannot be joined.
    var failed: PreparedRequest {
        prepared(nil, ["failed:\(Self.counter.add(1, ordering: .relaxed).newValue)"])
    }

    private static let counter = Atomic(0)

    var time: Duration? { (request.options.deadlines ?? snapshot.configuration.deadlines).connect }

    private var outgoing: OutgoingRequest {
        OutgoingRequest(
            url: url.text, method: request.method, headers: snapshot.fields(of: request), body: request.body,
            redirects: 0, retries: 0)
    }

    private func prepared(_ changed: OutgoingRequest?, _ further: [String] = []) -> PreparedRequest {
        var mark = further
        let jar = request.options.handlesCookies ? snapshot.configuration.cookieJar : nil
        // The changes are counted before the cookies are read: if they change in between, no other load joins this one.
        if let changes = jar?.changes { mark.append("jar:\(changes)") }
        let cookies = jar?.cookies(for: url.text)
        if let cookies { mark.append("cookies:" + cookies) }
        if let file = request.options.netrcFile { mark.append("netrc:" + NetrcMark.text(of: file)) }
        if let changed { mark += differences(of: changed) }
        return PreparedRequest(mark: mark, outgoing: changed, cookies: cookies)
    }

    /// The changes by the modifier that may matter to the answer.
    private func differences(of changed: OutgoingRequest) -> [String] {
        let given = outgoing
        let declared = request.options.credentialScope ?? modifier?.credentialScope
        let secrets = declared == nil ? [] : snapshot.configuration.secretHeaders
        var all = declared.map { ["as:" + $0] } ?? []
        if declared == nil, changed.url != given.url { all.append("url:" + changed.url) }
        if changed.method != given.method { all.append("method:" + changed.method.rawValue) }
        if changed.body != given.body { all.append("body:" + CredentialScope.digest(changed.body ?? [])) }
        let names = modifier?.changedHeaders(from: given.headers, to: changed.headers) ?? []
        for name in names where !secrets.contains(name) {
            all.append("field:\(name.canonicalName):\(changed.headers[name] ?? "")")
        }
        return all.sorted()
    }
}
