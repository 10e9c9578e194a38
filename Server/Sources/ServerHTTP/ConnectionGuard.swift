import NIOCore
import NIOHTTPTypes
import Synchronization

/// Ends connections whose client takes too long: to send a head, or to read an answer. Tells a running request when its client
/// has gone.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    struct Limits: Sendable {
        var head = TimeAmount.seconds(10)
        /// How long an answer may take for each 160 KiB, 16 KiB a second.
        var reading = TimeAmount.seconds(10)
    }

    private let limits: Limits
    private var headTimer: Scheduled<Void>?
    private var readTimer: Scheduled<Void>?
    private var pending = 0
    private var doneSinceCheck = 0
    private var running: Watch?

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    func channelActive(context: ChannelHandlerContext) {
        expectHead(context)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { expectHead(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { running?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    private func end() {
        headTimer?.cancel()
        readTimer?.cancel()
        running?.cancel()
        running = nil
    }

    private func expectHead(_ context: ChannelHandlerContext) {
        guard headTimer == nil else { return }
        let channel = context.channel
        headTimer = context.eventLoop.scheduleTask(in: limits.head) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            headTimer?.cancel()
            headTimer = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let count: Int
        let isEnd: Bool
        switch unwrapOutboundIn(data) {
        case .head: (count, isEnd) = (1, false)
        case .body(let buffer): (count, isEnd) = (buffer.readableBytes, false)
        case .end: (count, isEnd) = (1, true)
        }
        let promise = promise ?? context.eventLoop.makePromise()
        pending += count
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
            let (own, context) = bound.value
            own.pending -= count
            own.doneSinceCheck += count
            if isEnd {
                own.readTimer?.cancel()
                own.readTimer = nil
                own.running = nil
                own.expectHead(context)
            }
        }
        if readTimer == nil { watchReader(context) }
        context.write(data, promise: promise)
    }

    /// Looks every while whether the client has read its share.
    private func watchReader(_ context: ChannelHandlerContext) {
        doneSinceCheck = 0
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        readTimer = context.eventLoop.scheduleTask(in: limits.reading) {
            let (own, context) = bound.value
            own.readTimer = nil
            guard own.pending > 0 else { return }
            guard own.doneSinceCheck > 0 else { return context.close(promise: nil) }
            own.watchReader(context)
        }
    }

    // MARK: - Clients that go

    /// A request that is being answered.
    final class Watch: Sendable {
        private let task: Mutex<Task<Answer, Never>?>

        fileprivate init(_ task: Task<Answer, Never>) { self.task = Mutex(task) }

        func end() { task.withLock { $0 = nil } }

        func cancel() { task.withLock { $0 }?.cancel() }
    }

    /// Cancels the task when the client of the connection goes before ``Watch/end()``.
    static func watch(_ task: Task<Answer, Never>, on channel: any Channel) -> Watch {
        let watch = Watch(task)
        channel.eventLoop.execute {
            guard channel.isActive else { return watch.cancel() }
            let own = try? channel.pipeline.syncOperations.handler(type: ConnectionGuard.self)
            own?.running = watch
        }
        return watch
    }
}
