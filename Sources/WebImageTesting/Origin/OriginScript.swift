/// The steps of a connection that send one response: the response's behaviours in order.
struct OriginScript {
    enum Step {
        /// Sends bytes that do not belong to the body.
        case send([UInt8])
        case sendBody(Range<Int>)
        case wait(Duration)
        /// Waits until this time after the first step of the body.
        case waitUntil(Duration)
        case hold(Gate)
        case stall
        case cut
        case reset
    }

    private(set) var steps: [Step] = []
    /// Whether the connection can take another request after the last step.
    private(set) var keepsAlive: Bool
    let body: [UInt8]
    private let behaviours: [OriginResponse.Behaviour]

    /// - Parameter date: the value of the `Date` header.
    init(_ response: OriginResponse, to request: RecordedRequest, date: String) {
        let response = response.answering(request)
        let asksToClose = request.header("connection")?.lowercased() == "close" || !request.isHTTP11
        keepsAlive = response.keepsAlive && !asksToClose && response.framing.hasKnownEnd
        body = response.body
        behaviours = response.behaviours
        for case .delay(let duration) in behaviours { steps.append(.wait(duration)) }
        act(at: .beforeHead)
        if !response.prologue.isEmpty { steps.append(.send(response.prologue)) }
        if response.framing != .nothingButBody { addHead(response.head(date: date, keepsAlive: keepsAlive)) }
        act(at: .afterHead)
        if response.hasBody(for: request) { addBody(response.framing) }
    }

    private mutating func act(at moment: OriginResponse.Moment) {
        for behaviour in behaviours {
            switch behaviour {
            case .pause(let duration, moment): steps.append(.wait(duration))
            case .hold(let gate, moment): steps.append(.hold(gate))
            case .stall(moment): steps.append(.stall)
            case .cut(moment): steps.append(.cut)
            case .reset(moment): steps.append(.reset)
            default: break
            }
        }
    }

    private mutating func addHead(_ head: [UInt8]) {
        var sent = 0
        let stops = behaviours.compactMap { behaviour -> Int? in
            if case .headByte(let count) = behaviour.moment { count } else { nil }
        }
        for stop in Set(stops).sorted() {
            let end = min(max(stop, sent), head.count)
            if end > sent { steps.append(.send(Array(head[sent..<end]))) }
            sent = end
            act(at: .headByte(stop))
        }
        if sent < head.count { steps.append(.send(Array(head[sent...]))) }
    }

    private mutating func addBody(_ framing: OriginResponse.Framing) {
        var stops: Set<Int> = [body.count]
        var moments: [Int: [OriginResponse.Moment]] = [:]
        for case .byte(let count) in behaviours.compactMap(\.moment) {
            let stop = min(max(count, 0), body.count)
            stops.insert(stop)
            if moments[stop]?.contains(.byte(count)) != true { moments[stop, default: []].append(.byte(count)) }
        }
        let times = pieceTimes()
        stops.formUnion(times.keys)
        let chunkSize: Int? = if case .chunked(let size) = framing { max(size, 1) } else { nil }
        if let chunkSize { stops.formUnion(stride(from: 0, to: body.count, by: chunkSize)) }
        let badSize = chunkSize.flatMap { size in
            behaviours.compactMap { behaviour -> Int? in
                guard case .badChunkSize(let after) = behaviour else { return nil }
                return min((max(after, 0) + size - 1) / size * size, body.count)
            }.first
        }
        if let badSize { stops.insert(badSize) }

        var sent = 0
        for stop in stops.sorted() {
            if stop > sent { steps.append(.sendBody(sent..<stop)) }
            sent = stop
            let endsChunk = chunkSize.map { stop > 0 && (stop % $0 == 0 || stop == body.count) } ?? false
            if endsChunk { steps.append(.send(Array("\r\n".utf8))) }
            for moment in moments[stop] ?? [] { act(at: moment) }
            if badSize == stop {
                steps.append(.send(Array("no size\r\n".utf8)))
                keepsAlive = false
                return
            }
            if let time = times[stop], stop < body.count { steps.append(.waitUntil(time)) }
            if let chunkSize, stop % chunkSize == 0, stop < body.count {
                let size = String(min(chunkSize, body.count - stop), radix: 16)
                steps.append(.send(Array("\(size)\r\n".utf8)))
            }
        }
        if chunkSize != nil { steps.append(.send(Array("0\r\n\r\n".utf8))) }
    }

    /// The earliest times for sending pieces, by the index of their first byte, counted from the start of the body.
    private func pieceTimes() -> [Int: Duration] {
        var times: [Int: Duration] = [:]
        for behaviour in behaviours {
            switch behaviour {
            case .drip(let bytes, let interval):
                for (number, start) in stride(from: 0, to: body.count, by: max(bytes, 1)).enumerated() {
                    times[start] = max(times[start] ?? .zero, interval * number)
                }
            case .paced(let duration, let pieces):
                let count = min(max(pieces, 1), max(body.count, 1))
                for number in 0..<count {
                    let start = body.count * number / count
                    times[start] = max(times[start] ?? .zero, duration * (number + 1) / count)
                }
            default: break
            }
        }
        return times
    }
}

extension OriginResponse {
    fileprivate func hasBody(for request: RecordedRequest) -> Bool {
        request.method != "HEAD" && status != 304 && status != 204
    }

    fileprivate func head(date: String, keepsAlive: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(reason ?? Self.reasons[status] ?? "Status")\r\n"
        if sendsDate, header("date") == nil { text += "Date: \(date)\r\n" }
        switch framing {
        case .contentLength:
            if status != 304, status != 204 { text += "Content-Length: \(body.count)\r\n" }
        case .falseLength(let length): text += "Content-Length: \(length)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose, .nothingButBody: break
        }
        if !keepsAlive { text += "Connection: close\r\n" }
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static let reasons = [
        200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 410: "Gone", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
    ]
}

extension OriginResponse.Framing {
    /// Whether the client can tell the end of the body without the end of the connection; false for a wrong length,
    /// too.
    fileprivate var hasKnownEnd: Bool {
        switch self {
        case .contentLength, .chunked: true
        case .falseLength, .untilClose, .nothingButBody: false
        }
    }
}

extension OriginResponse.Behaviour {
    fileprivate var moment: OriginResponse.Moment? {
        switch self {
        case .pause(_, let moment), .hold(_, let moment), .stall(let moment), .cut(let moment), .reset(let moment):
            moment
        case .delay, .drip, .paced, .badChunkSize: nil
        }
    }
}
