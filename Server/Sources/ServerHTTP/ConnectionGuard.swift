import NIOCore
import Synchronization

/// Closes connections whose client takes too long to send a request, to read an answer or to send the next request.
///
/// It precedes the parser, where it sees the first byte of a request.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var deadlines: ConnectionDeadlines
    private let connections: OpenConnections
    private var id: OpenConnections.ID?
    private let onSlowReader: @Sendable () -> Void
    private var context: ChannelHandlerContext?
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// The bytes of all answers.
    private var written: UInt64 = 0
    private var isClosing = false
    private var isBroken = false

    /// - Parameters:
    ///   - connections: the connections of the server.
    ///   - onSlowReader: called when a connection is closed because its client does not read.
    init(
        _ limits: ConnectionDeadlines.Limits, among connections: OpenConnections,
        onSlowReader: @escaping @Sendable () -> Void
    ) {
        self.connections = connections
        deadlines = ConnectionDeadlines(limits, now: .now())
        self.onSlowReader = onSlowReader
    }

    /// How many requests have arrived whose answers are not completely written.
    var requestsInProgress: Int { deadlines.requestsInProgress }

    /// How many parts of answers are waiting for the client.
    var waitingParts: Int { deadlines.waitingParts }

    func requestBegan() {
        deadlines.requestBegan()
        if let id { connections.becomesBusy(id) }
    }

    func requestEnded() { deadlines.requestEnded() }

    /// The connection speaks HTTP/2: its bytes do not show where requests begin, and another handler asks idle clients
    /// to leave.
    func becomesMultiplexed() { deadlines.becomesMultiplexed() }

    /// Called when the client violates the protocol. What it sends from then on is discarded: NIO would report each
    /// further piece to the client, and these reports would pile up for a client that does not read.
    func breaks() {
        isBroken = true
        deadlines.breaks(now: .now())
        scheduleCheck()
    }

    /// Called when a part of an answer waits for the client.
    func partWaits() {
        deadlines.partWaits(now: .now())
        scheduleCheck()
    }

    func partWent() {
        deadlines.partWent(now: .now())
        noteIdle()
    }

    func answered() {
        deadlines.answered(now: .now())
        noteIdle()
        scheduleCheck()
    }

    private var isIdle: Bool { requestsInProgress == 0 && waitingParts == 0 }

    private func noteIdle() {
        if let id, isIdle, let context { connections.becomesIdle(id, makeRoom(context)) }
    }

    /// Returns a function that closes the connection unless a request has arrived by then.
    private func makeRoom(_ context: ChannelHandlerContext) -> @Sendable () -> Void {
        let (loop, bound) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
        return {
            loop.execute {
                let own = bound.value
                guard own.isIdle, let context = own.context else { return }
                // The client may not have read all of its last answer. The deadline for reading stays in force.
                own.close(context: context, mode: .all, promise: nil)
            }
        }
    }

    // MARK: - Events of the connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        id = connections.opened(makeRoom(context))
        scheduleCheck()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            deadlines.leaves(now: .now())
            scheduleCheck()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing, !isBroken else { return }
        deadlines.receivedBytes(now: .now())
        context.fireChannelRead(data)
        scheduleCheck()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if deadlines.isReaderAwaited, unsent(context) == 0 { deadlines.readerCaughtUp() }
        written += UInt64(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard !deadlines.isReaderAwaited, unsent(context) > 0 else { return }
        withProgress(context) { own, progress in
            own.deadlines.readerIsAwaited(progress: progress, now: .now())
            own.scheduleCheck()
        }
    }

    /// Closes the connection after the last written byte. NIO by itself discards what the client has not read yet.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, !isClosing, unsent(context) > 0 else { return context.close(mode: mode, promise: promise) }
        isClosing = true
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.whenComplete { _ in bound.value.close(promise: promise) }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: sent)
    }

    private func end() {
        context = nil
        if let id { connections.closed(id) }
        id = nil
        timer?.task.cancel()
        timer = nil
    }

    // MARK: - Deadlines

    /// Schedules a check for the time when the client's deadline may have passed. A check that comes too early is
    /// cheaper than one that is rescheduled with every request.
    private func scheduleCheck() {
        guard let context, let next = deadlines.nextCheck else { return }
        if let timer {
            guard next < timer.deadline else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = (next, context.eventLoop.scheduleTask(deadline: next) { bound.value.check() })
    }

    private func check() {
        timer = nil
        guard let context else { return }
        if deadlines.isReaderAwaited, unsent(context) == 0 { deadlines.readerCaughtUp() }
        guard deadlines.isReaderAwaited else { return apply(deadlines.verdict(progress: 0, now: .now())) }
        withProgress(context) { own, progress in
            own.apply(own.deadlines.verdict(progress: progress, now: .now()))
        }
    }

    private func apply(_ verdict: ConnectionDeadlines.Verdict) {
        if verdict == .open { return scheduleCheck() }
        if verdict == .slowReader { onSlowReader() }
        // ``close(context:mode:promise:)`` would wait for the client.
        context?.close(promise: nil)
    }

    /// How many bytes the system has not taken yet.
    private func unsent(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Calls back with the number of bytes that the client's system has acknowledged or, if that is not known, of those
    /// that were sent.
    private func withProgress(
        _ context: ChannelHandlerContext, _ body: @escaping @Sendable (ConnectionGuard, UInt64) -> Void
    ) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let sent = written - UInt64(unsent(context))
        guard let socket = context.channel as? any SocketOptionProvider, let option = TransportState.option else {
            return body(self, sent)
        }
        let state: EventLoopFuture<TransportState> = socket.unsafeGetSocketOption(level: .tcp, name: option)
        state.whenComplete { state in body(bound.value, (try? state.get().acknowledged) ?? sent) }
    }
}

/// The part of Linux' `struct tcp_info` up to the count of acknowledged bytes, which the headers of older C libraries
/// lack.
private struct TransportState: Sendable {
    private var head: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private var rest: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    let acknowledged: UInt64

    static var option: NIOBSDSocket.Option? {
        #if os(Linux)
            NIOBSDSocket.Option(rawValue: 11)
        #else
            nil
        #endif
    }
}
