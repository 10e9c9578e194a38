import HTTPTypes
import NIOCore
import NIOHTTPTypes
import ServerGrammar
import Synchronization

/// Answers requests for results that are in memory where they come in, on the event loop: what is behind it costs more than the
/// answer. All others go on to Hummingbird.
final class MemoryAnswers: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    typealias Find = @Sendable (HTTPRequest, ClientAddress?) -> Answer?
    /// Makes the handler of a connection, or of a stream of one that tells whether it has room for a further answer.
    typealias Make = @Sendable (_ hasRoom: @escaping () -> Bool) -> MemoryAnswers

    /// Longer answers are written piece by piece, as the client takes them. These are handed over as a whole.
    static let longestBody = 64 << 10

    private let find: Find
    private let date: DateField
    private let hasRoom: () -> Bool
    /// Whom the connection is with, once that was asked for.
    private var peer: ClientAddress??
    /// The answer to the request whose end is awaited.
    private var answer: Answer?
    /// Requests that went on and are not answered: answers keep the order of requests.
    private var others = 0
    private var hasWritten = false

    /// - Parameters:
    ///   - find: an answer that is there, of ``longestBody`` at most; nil where there is none. It must not block.
    ///   - hasRoom: false while the client leaves too much unread of other answers.
    init(_ find: @escaping Find, _ date: DateField, hasRoom: @escaping () -> Bool = { true }) {
        self.find = find
        self.date = date
        self.hasRoom = hasRoom
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // A connection that ends behind the answer is Hummingbird's to end. A client that does not read gets its answers from
            // there too, one after the other: what is written here waits in memory.
            if others == 0, request.headerFields[.connection]?.lowercased() != "close",
                context.channel.isWritable, hasRoom(),
                let found = find(request, peer(context))
            {
                answer = found
                return
            }
            others += 1
        case .body: if answer != nil { return }
        case .end:
            if let answer {
                self.answer = nil
                return write(answer, context)
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
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

/// The text of `Date`, which changes once a second. Any thread may use it.
final class DateField: Sendable {
    private let now: @Sendable () -> Int
    private let kept = Mutex((second: Int.min, text: ""))

    /// - Parameter now: seconds since 1970.
    init(_ now: @escaping @Sendable () -> Int) { self.now = now }

    var text: String {
        let now = now()
        return kept.withLock { kept in
            if kept.second != now { kept = (now, HTTPDateText.text(now)) }
            return kept.text
        }
    }
}
