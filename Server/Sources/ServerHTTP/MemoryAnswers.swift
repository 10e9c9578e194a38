import HTTPTypes
import NIOCore
import NIOHTTPTypes
import ServerGrammar
import Synchronization

/// Answers requests for results in memory right on the event loop, because the handlers behind it cost more than the
/// answer. All other requests go on to Hummingbird.
final class MemoryAnswers: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    typealias Find = @Sendable (HTTPRequest, ClientAddress?) -> Answer?
    /// Makes the handler of a connection or of a stream. `hasRoom`: see ``init(_:_:hasRoom:)``.
    typealias Make = @Sendable (_ hasRoom: @escaping () -> Bool) -> MemoryAnswers

    /// Longer answers are written in pieces, as the client reads them. Shorter ones are handed over whole.
    static let longestBody = 64 << 10

    private let find: Find
    private let date: DateField
    private let hasRoom: () -> Bool
    /// The other end of the connection; the outer nil: not determined yet.
    private var peer: ClientAddress??
    /// The answer to the request whose end has not arrived yet.
    private var answer: Answer?
    /// Whether a request was answered before its end, which is then discarded.
    private var dropsRest = false
    /// How many requests went on to Hummingbird and are not answered yet: answers keep the order of requests.
    private var others = 0
    private var hasWritten = false

    /// - Parameters:
    ///   - find: returns an answer from memory, of ``longestBody`` at most; nil if there is none. It must not block.
    ///   - hasRoom: returns false while the client leaves too much of other answers unread.
    init(_ find: @escaping Find, _ date: DateField, hasRoom: @escaping () -> Bool = { true }) {
        self.find = find
        self.date = date
        self.hasRoom = hasRoom
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // Requests that end their connection go on to Hummingbird, which closes it after the answer. So do the
            // requests of clients that do not read: Hummingbird answers them one by one, whereas answers that are
            // written here would pile up in memory.
            if others == 0, request.headerFields[.connection]?.lowercased() != "close",
                context.channel.isWritable, hasRoom(),
                let found = find(request, peer(context))
            {
                answer = found
                return
            }
            others += 1
        case .body: if answer != nil || dropsRest { return }
        case .end:
            if dropsRest {
                dropsRest = false
                return
            }
            if let answer {
                self.answer = nil
                return write(answer, context)
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The answer does not wait for the end of the request: an HTTP/2 client that announces a body and never sends
        // it would hold its stream and the connection for ever.
        if let answer {
            (self.answer, dropsRest) = (nil, true)
            write(answer, context)
        }
        if hasWritten {
            hasWritten = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { others = max(others - 1, 0) }
        context.write(data, promise: promise)
    }

    private func peer(_ context: ChannelHandlerContext) -> ClientAddress? {
        if let peer { return peer }
        let address = ClientAddress(context.channel.remoteAddress)
        peer = .some(address)
        return address
    }

    private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
        var response = HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields)
        response.headerFields[.date] = date.text
        response.headerFields[.server] = ImageServer.name
        var body: ByteBuffer?
        if case .bytes(let bytes) = answer.body {
            body = context.channel.allocator.buffer(bytes: bytes)
        }
        hasWritten = true
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// The text of the `Date` field, which changes once a second. Any thread may use it.
final class DateField: Sendable {
    private let now: @Sendable () -> Int
    private let kept = Mutex((second: Int.min, text: ""))

    /// - Parameter now: returns seconds since 1970.
    init(_ now: @escaping @Sendable () -> Int) { self.now = now }

    var text: String {
        let now = now()
        return kept.withLock { kept in
            if kept.second != now { kept = (now, HTTPDateText.text(now)) }
            return kept.text
        }
    }
}
