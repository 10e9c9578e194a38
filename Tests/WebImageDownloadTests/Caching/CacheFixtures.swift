import HTTPTypes
import Testing
import WebImageTesting

@testable import WebImageDownload

/// The time of every first answer, in seconds since 1970: Fri, 15 Jan 2027 08:00:00 GMT.
let cacheStart: Int64 = 1_800_000_000

/// The HTTP date that is this many seconds after ``cacheStart``.
func date(_ seconds: Int64) -> String { HTTPDate.text(cacheStart + seconds) }

/// Header fields from lines such as `Cache-Control: max-age=3`.
func httpFields(_ lines: [String]) -> HTTPFields {
    var fields = HTTPFields()
    for line in lines {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard let name = HTTPField.Name(String(parts[0])) else {
            Issue.record("\(line) has no name")
            continue
        }
        fields.append(HTTPField(name: name, value: String(parts.last?.drop { $0 == " " } ?? "")))
    }
    return fields
}

func head(_ status: Int, _ lines: [String] = []) -> ResponseHead {
    let text = "HTTP/1.1 \(status) X\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    return ResponseHead(status: status, lines: Array(text.utf8), version: .http11, remoteAddress: nil)
}

/// Rules whose digests show their input, so that tests can read it.
let cacheRules = HTTPCacheRules(digest: { "<\($0)>" })

/// The arrival of an answer `seconds` after ``cacheStart``, and `delay` seconds after its request was sent.
func arrival(
    at seconds: Int64 = 0, delay: Int64 = 0, place: String? = "https://a.example/x", redirects: [ResponseHead] = []
) -> CacheExchange.Arrival {
    .init(
        requestTime: cacheStart + seconds - delay, responseTime: cacheStart + seconds, place: place,
        redirects: redirects)
}

/// The entry that is stored for an answer when there was no entry before; nil if nothing may be stored.
func storedResponse(
    _ lines: [String], status: Int = 200, mode: CacheMode = .httpRules, request: CacheRequest = CacheRequest(),
    arrival: CacheExchange.Arrival = arrival(), rules: HTTPCacheRules = cacheRules
) -> StoredResponse? {
    guard case .fetch(let exchange) = rules.decide(mode, request, stored: nil, now: cacheStart),
        case .proceed(let plan) = exchange.answer(head(status, lines), arrival)
    else { return nil }
    return plan.storing
}

/// The case of a ``CacheDecision`` without its associated values.
enum CacheOutcome: String, Sendable {
    case serve, background, ask, fetch, miss

    init(_ decision: CacheDecision) {
        switch decision {
        case .serve: self = .serve
        case .serveAndRevalidate: self = .background
        case .revalidate: self = .ask
        case .fetch: self = .fetch
        case .fail: self = .miss
        }
    }
}
