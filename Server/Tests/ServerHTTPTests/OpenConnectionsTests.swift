import Synchronization
import Testing

@testable import ServerHTTP

@Suite struct OpenConnectionsTests {
    private final class Closed: Sendable {
        private let state = Mutex<[String]>([])
        var names: [String] { state.withLock { $0 } }
        func closing(_ name: String) -> @Sendable () -> Void { { self.state.withLock { $0.append(name) } } }
    }

    @Test func theConnectionIdleForLongestIsClosedForANewOne() {
        let (connections, closed) = (OpenConnections(most: 3), Closed())
        let ids = ["a", "b", "c"].map { connections.opened(closed.closing($0)) }
        #expect(closed.names.isEmpty)
        // The first connection makes a request and becomes idle again. The second stays busy.
        connections.becomesBusy(ids[0])
        connections.becomesIdle(ids[0], closed.closing("a again"))
        connections.becomesBusy(ids[1])
        _ = connections.opened(closed.closing("d"))
        #expect(closed.names == ["c"])
        connections.closed(ids[2])
        _ = connections.opened(closed.closing("e"))
        #expect(closed.names == ["c", "a again"])
    }

    @Test func aBusyConnectionIsNotClosedForANewOne() {
        let (connections, closed) = (OpenConnections(most: 1), Closed())
        let id = connections.opened(closed.closing("a"))
        connections.becomesBusy(id)
        let other = connections.opened(closed.closing("b"))
        #expect(closed.names.isEmpty && connections.count == 2)
        connections.closed(other)
        connections.closed(id)
        #expect(connections.count == 0 && connections.idleCount == 0)
    }

    @Test func idleConnectionsAreListedOnceAfterManyRequests() {
        let (connections, closed) = (OpenConnections(most: 10), Closed())
        let ids = (0..<10).map { connections.opened(closed.closing("\($0)")) }
        for round in 0..<10_000 {
            let id = ids[round % 10]
            connections.becomesBusy(id)
            connections.becomesIdle(id, closed.closing("\(round)"))
        }
        #expect(connections.idleCount == 10)
        for _ in 0..<10 { _ = connections.opened(closed.closing("new")) }
        #expect(closed.names == (9990..<10_000).map(String.init))
    }
}
