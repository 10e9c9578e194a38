import HTTPTypes
import WebImageCore
import WebImageDownload

/// Responses of a server to a cache. The input is text in parts that a NUL byte separates: the fields of a first
/// response, of a second one and of a request, and bytes as they may be stored on disk.
enum HTTPFuzz {
    private static let rules = HTTPCacheRules(digest: { "<\($0)>" })
    private static let times: [Int64] = [0, 1_800_000_000, 1_800_000_100, .max, .min]

    static func run(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, maxSplits: 3, omittingEmptySubsequences: false).map(Array.init)
        func part(_ number: Int) -> [UInt8] { number < parts.count ? parts[number] : [] }
        let status = bytes.first.map { [200, 200, 203, 304, 404, 503, 206, 299][Int($0 & 7)] } ?? 200
        let request = CacheRequest(fields: head(200, part(2)).headers)
        cache(head(200, part(0)), head(status, part(1)), request)
        resume(head(200, part(0)), head(206, part(1)), request)
        disk(part(3))
        let text = String(decoding: part(0), as: UTF8.self)
        precondition(CacheControl(text) == CacheControl(text))
        if let delay = RetryAfter.delay(text, now: 1_800_000_000) { precondition(delay >= .zero) }
    }

    private static func head(_ status: Int, _ lines: [UInt8]) -> ResponseHead {
        ResponseHead(status: status, lines: lines, version: .http11, remoteAddress: nil)
    }

    private static func arrival(_ time: Int64) -> CacheExchange.Arrival {
        .init(requestTime: time, responseTime: time, place: "https://a.example/x")
    }

    private static func cache(_ first: ResponseHead, _ second: ResponseHead, _ request: CacheRequest) {
        for mode in CacheMode.allCases {
            guard case .fetch(let exchange) = rules.decide(mode, request, stored: nil, now: 0),
                case .proceed(let plan) = exchange.answer(first, arrival(1_800_000_000))
            else { continue }
            precondition(plan.storing == nil || mode.stores, "\(mode) stores")
            guard let entry = plan.storing else { continue }
            precondition(StoredResponse(encoded: entry.encoded()) == entry, "the entry is written as another one")
            for time in times { look(entry, request, second, at: time) }
        }
    }

    private static func look(_ entry: StoredResponse, _ request: CacheRequest, _ second: ResponseHead, at time: Int64) {
        for mode in CacheMode.allCases {
            let decision = rules.decide(mode, request, stored: entry, now: time)
            switch decision {
            case .serve: precondition(mode.readsCache, "\(mode) serves")
            case .serveAndRevalidate(_, let exchange), .revalidate(let exchange), .fetch(let exchange):
                precondition(mode != .cacheOnly, "a network was used")
                _ = exchange.fields
                if case .useStored(let merged, let plan) = exchange.answer(second, arrival(time)) {
                    precondition(exchange.isConditional && plan.storing.map { $0 == merged } != false)
                }
                _ = exchange.failed(WebImageError(.dnsFailed, ""), now: time)
            case .fail(let error): precondition(error.code == .cacheMiss)
            }
        }
    }

    private static func resume(_ first: ResponseHead, _ second: ResponseHead, _ request: CacheRequest) {
        var body = ResumableBody(request, mode: .cacheFirst)
        body.didAsk()
        _ = body.head(first, arrival(1_800_000_000))
        _ = body.received(100_000)
        let keep = body.ended(WebImageError(.connectionLost, "")).keep
        if case .begin(let metadata) = keep {
            var later = ResumableBody(request, mode: .cacheFirst)
            if later.found(metadata: metadata, length: 100_000) {
                precondition(!later.fields.isEmpty && later.fields.count == body.fields.count)
            }
        }
        let asked = !body.fields.isEmpty
        body.didAsk()
        if case .append(let whole) = body.head(second, arrival(1_800_000_000)) {
            precondition(asked && whole.status == 200 && body.length == 100_000)
        }
    }

    private static func disk(_ bytes: [UInt8]) {
        if let entry = StoredResponse(encoded: bytes) {
            precondition(StoredResponse(encoded: entry.encoded()) == entry)
            for time in times { look(entry, CacheRequest(), head(304, []), at: time) }
        }
        var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
        if body.found(metadata: bytes, length: 100_000) { precondition(!body.fields.isEmpty) }
    }

    /// Seeds.
    static var seeds: [(String, [UInt8])] {
        let date = "Date: Fri, 15 Jan 2027 08:00:00 GMT\n"
        let first = [
            date
                + "Cache-Control: max-age=100, stale-while-revalidate=50, stale-if-error=\"9\"\nETag: \"a\"\nVary: Accept\n",
            date + "Expires: Friday, 15-Jan-27 08:01:40 GMT\nLast-Modified: Fri Jan 15 07:00:00 2027\nAge: 5\n",
            "Cache-Control: no-cache=\"ETag, b\", private, immutable, must-understand, no-store\nETag: W/\"a\"\n",
            date + "ETag: \"a\"\nContent-Length: 200000\nAccept-Ranges: bytes\n", "120",
            "Fri, 15 Jan 2027 08:00:07 GMT",
        ]
        let second = [
            "ETag: \"a\"\nCache-Control: max-age=7\n",
            "ETag: \"a\"\nContent-Range: bytes 100000-199999/200000\nContent-Length: 100000\n",
            "Content-Type: multipart/byteranges; boundary=x\n",
        ]
        let request = [
            "Accept: image/png\nCache-Control: max-stale=5, min-fresh=2\n", "Pragma: no-cache\nCookie: a=b\n", "",
        ]
        let field = StoredResponse.Field(name: "etag", value: "\"a\"")
        let entry = StoredResponse(status: 200, fields: [field], scope: "s", requestTime: 5, responseTime: 6).encoded()
        return first.enumerated().map { number, text in
            let texts = [text, second[number % second.count], request[number % request.count]]
            return ("http-\(number)", Array(texts.joined(separator: "\0").utf8) + [0] + entry)
        }
    }
}
