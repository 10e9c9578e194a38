import NIOCore
import Synchronization

/// Tells a running request when its client has gone: of a connection, or of a stream of HTTP/2.
final class ClientPresence: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    /// A request that is being answered.
    final class Watch: Sendable {
        private let task: Mutex<Task<Answer, Never>?>

        fileprivate init(_ task: Task<Answer, Never>) { self.task = Mutex(task) }

        func end() { task.withLock { $0 = nil } }

        func cancel() { task.withLock { $0 }?.cancel() }
    }

    private let goesWithInput: Bool
    private var hasGone = false
    private var running: Watch?

    /// - Parameter goesWithInput: whether a client that has sent its last byte while an answer is made is taken for gone. The end of a
    ///   stream's input is the end of its request.
    init(goesWithInput: Bool) { self.goesWithInput = goesWithInput }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if goesWithInput, case ChannelEvent.inputClosed? = event as? ChannelEvent { goes() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        goes()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        goes()
        running = nil
    }

    private func goes() {
        hasGone = true
        running?.cancel()
    }

    /// Cancels the task when the client goes before ``Watch/end()``.
    static func watch(_ task: Task<Answer, Never>, on channel: any Channel) -> Watch {
        let watch = Watch(task)
        channel.eventLoop.execute {
            guard channel.isActive else { return watch.cancel() }
            let own = try? channel.pipeline.syncOperations.handler(type: ClientPresence.self)
            // It stays until the next request's: the end of an answer says nothing of the request that is running then.
            own?.running = watch
            // The client may have gone before the request was watched.
            if own?.hasGone == true { watch.cancel() }
        }
        return watch
    }
}
