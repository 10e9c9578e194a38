/// A call to a ``FaultyFileSystem`` that waits. The test learns when the call is made, and lets it continue.
package struct DelayedCall: Sendable {
    private let arrival = Gate()
    private let end = Gate()

    /// Blocks until the call is made.
    package func waitUntilMade() { arrival.wait() }

    /// Returns once the call is made, without blocking a thread.
    package func made() async { await arrival.opened() }

    package var isMade: Bool { arrival.isOpen }

    /// Lets the call continue; if it is not made yet, it will not wait.
    package func release() { end.open() }

    func pass() {
        arrival.open()
        end.wait()
    }
}
