import WebImageSystem

/// A connection of an origin server. One thread serves it from its first byte to its end.
struct OriginConnection {
    /// How a response ended.
    private enum Ending {
        case complete
        case cut
        case reset
        case clientGone
    }

    private let socket: LoopbackSocket
    private let number: Int
    private let state: OriginState

    init(_ socket: LoopbackSocket, number: Int, state: OriginState) {
        self.socket = socket
        self.number = number
        self.state = state
    }

    func serve() {
        var reader = RequestReader()
        while true {
            switch reader.next() {
            case .needsBytes:
                guard let bytes = socket.receive(), !bytes.isEmpty else { return close() }
                reader.add(bytes)
            case .wantsContinue:
                guard socket.send("HTTP/1.1 100 Continue\r\n\r\n") else { return close() }
            case .malformed:
                _ = socket.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return closeInOrder()
            case .request(var request):
                request.connection = number
                let arrived = request
                guard answer(state.ledger.change { $0.noteArrival(of: arrived) }) else { return }
            }
        }
    }

    /// Sends the response; returns false if the connection must then be closed.
    private func answer(_ request: RecordedRequest) -> Bool {
        let date = HTTPDate.text(SystemClock.shared.wallTime)
        let script = OriginScript(state.response(to: request), to: request, date: date)
        let ending = perform(script, for: request)
        let isAbandoned = ending == .clientGone && !state.isStopped
        switch ending {
        case .complete where script.keepsAlive: break
        case .complete, .cut: closeInOrder()
        case .reset:
            state.forget(number)
            socket.reset()
        case .clientGone: close()
        }
        count(request) { tally in
            if isAbandoned { tally.abandoned += 1 } else if ending != .clientGone { tally.finished += 1 }
        }
        return ending == .complete && script.keepsAlive
    }

    private func perform(_ script: OriginScript, for request: RecordedRequest) -> Ending {
        var bodyStart: Duration?
        for step in script.steps {
            switch step {
            case .send(let bytes):
                guard socket.send(bytes) else { return .clientGone }
            case .sendBody(let range):
                bodyStart = bodyStart ?? SystemClock.shared.now
                guard sendBody(script.body, range, for: request) else { return .clientGone }
            case .wait(let duration):
                guard stays(until: SystemClock.shared.now + duration) else { return .clientGone }
            case .waitUntil(let offset):
                let start = bodyStart ?? SystemClock.shared.now
                bodyStart = start
                guard stays(until: start + offset) else { return .clientGone }
            case .hold(let gate):
                count(request) { $0.held += 1 }
                guard waitForEvents(on: socket, or: gate, until: nil) == .gateOpened else { return .clientGone }
            case .stall:
                count(request) { $0.held += 1 }
                _ = waitForEvents(on: socket, or: nil, until: nil)
                return .clientGone
            case .cut: return .cut
            case .reset: return .reset
            }
        }
        return .complete
    }

    private func sendBody(_ body: [UInt8], _ range: Range<Int>, for request: RecordedRequest) -> Bool {
        let isSent = body.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[range])) }
        if isSent { count(request) { $0.bodyBytes += range.count } }
        return isSent
    }

    private func stays(until deadline: Duration) -> Bool {
        waitForEvents(on: socket, or: nil, until: deadline) == .timeout
    }

    private func count(_ request: RecordedRequest, _ change: (inout OriginLedger.Tally) -> Void) {
        state.ledger.change { $0.note(request, change) }
    }

    private func close() {
        state.forget(number)
        socket.close()
    }

    /// Ends the connection so that the client can read everything that was sent. If a socket is closed while bytes from
    /// the client are unread, it sends an RST, which can overtake the response (RFC 9112 section 9.6).
    private func closeInOrder() {
        socket.finishSending()
        let deadline = SystemClock.shared.now + .seconds(2)
        while waitForEvents(on: socket, or: nil, until: deadline) != .timeout,
            let bytes = socket.receive(), !bytes.isEmpty
        {}
        close()
    }
}
