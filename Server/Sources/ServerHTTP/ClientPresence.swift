import NIOCore
import Synchronization

/// Cancels a running request when its client disconnects or, with HTTP/2, resets the stream.
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

    /// - Parameter goesWithInput: whether a client that closes its sending side while an answer is made counts as gone.
    ///   On a stream of HTTP/2, this is merely the end of the request.
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

    /// Cancels the task if the client goes before ``Watch/end()``.
    static func watch(_ task: Task<Answer, Never>, on channel: any Channel) -> Watch {
        let watch = Watch(task)
        channel.eventLoop.execute {
            guard channel.isActive else { return watch.cancel() }
            let own = try? channel.pipeline.syncOperations.handler(type: ClientPresence.self)
            // It is kept until the next request sets its own: another request may be running when an answer ends.
            own?.running = watch
            // The client may have gone before the request was watched.
            if own?.hasGone == true { watch.cancel() }
        }
        return watch
    }
}
