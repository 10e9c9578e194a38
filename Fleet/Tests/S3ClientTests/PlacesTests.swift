import FleetTesting
import Testing

@testable import S3Client

/// Tests of `Places` in which requests and connections are plain numbers.
@Suite struct S3PlacesTests {
    private typealias Subject = Places<Int, Int>

    private func places(_ connections: Int = 2, _ waiting: Int = 2) -> Subject {
        Subject(maxConnections: connections, maxWaiting: waiting)
    }

    @Test func aConnectionIsMadeForEachRequestUpToALimit() {
        var places = places()
        #expect(places.add(1) == [.connect])
        #expect(places.add(2) == [.connect])
        #expect(places.add(3) == [])
        #expect(places.connected(10) == [.start(1, 10)])
        #expect(places.free(10) == [.start(2, 10)])
        #expect(places.connected(11) == [.start(3, 11)])
        #expect(places.free(10) == [])
        #expect(places.free(11) == [])
        // The connection that was used last is taken first.
        #expect(places.add(4) == [.start(4, 11)])
    }

    @Test func noMoreWaitThanMay() {
        var places = places(1, 2)
        #expect(places.add(1) == [.connect])
        #expect(places.add(2) == [])
        #expect(places.add(3) == [])
        #expect(places.add(4) == [.fail(4, .overloaded)])
        #expect(places.connected(10) == [.start(1, 10)])
        #expect(places.add(5) == [.fail(5, .overloaded)])
        places.remove(2)
        #expect(places.add(6) == [])
        #expect(places.free(10) == [.start(3, 10)])
    }

    /// Requests from 100 on write.
    private func placesForWrites(_ connections: Int, _ waiting: Int) -> Subject {
        Subject(maxConnections: connections, maxWaiting: waiting) { $0 >= 100 }
    }

    /// Uploads once took all connections, so that reads waited until their deadlines.
    @Test func writesGetHalfOfTheConnections() {
        var places = placesForWrites(4, 8)
        #expect(places.add(100) == [.connect])
        #expect(places.add(101) == [.connect])
        #expect(places.add(102) == [])
        #expect(places.connected(10) == [.start(100, 10)])
        #expect(places.connected(11) == [.start(101, 11)])
        #expect(!places.waitsForOthers(101) && places.waitsForOthers(102))
        #expect(places.add(1) == [.connect])
        #expect(places.connected(12) == [.start(1, 12)])
        #expect(places.free(12) == [], "a write still waits")
        #expect(places.add(2) == [.start(2, 12)])
        #expect(places.lose(10) == [.connect])
        #expect(places.connected(13) == [.start(102, 13)])
        // A write whose connection was lost.
        #expect(places.lose(13, retrying: 102) == [.connect])
        #expect(places.add(103) == [])
        #expect(places.connected(14) == [.start(102, 14)])
        #expect(places.free(11) == [.start(103, 11)])
    }

    @Test func writesLeaveHalfOfThePlacesToOthers() {
        var places = placesForWrites(2, 4)
        #expect(places.add(100) == [.connect])
        #expect(places.connected(10) == [.start(100, 10)])
        #expect(places.add(101) == [] && places.add(102) == [])
        #expect(places.add(103) == [.fail(103, .overloaded)])
        #expect(places.add(1) == [.connect])
        #expect(places.connected(11) == [.start(1, 11)])
        #expect(places.add(2) == [] && places.add(3) == [])
        #expect(places.add(4) == [.fail(4, .overloaded)])
        #expect(places.free(11) == [.start(2, 11)])
        #expect(places.free(10) == [.start(101, 10)])
    }

    @Test func aFailedConnectionFailsTheLongestWaitingRequest() {
        var places = places(2, 5)
        for request in 1...3 { _ = places.add(request) }
        #expect(places.failedToConnect(.connectionLost) == [.fail(1, .connectionLost), .connect])
        #expect(places.connected(10) == [.start(2, 10)])
        #expect(places.free(10) == [.start(3, 10)])
        // No request waits for this connection.
        #expect(places.failedToConnect(.connectionLost) == [])
        #expect(places.count == 1)
    }

    @Test func aRetriedRequestGoesFirstAndGetsANewConnection() {
        var places = places(2, 5)
        for request in 1...2 { _ = places.add(request) }
        _ = places.connected(10)
        _ = places.connected(11)
        _ = places.add(3)
        #expect(places.lose(10, retrying: 1) == [.connect])
        #expect(places.free(11) == [.start(3, 11)])
        #expect(places.connected(12) == [.start(1, 12)])
    }

    /// All other connections are unused, and any of them may be as dead as the one that failed.
    @Test func aRetriedRequestReplacesAnUnusedConnection() {
        var places = places(1, 5)
        _ = places.add(1)
        _ = places.connected(10)
        _ = places.free(10)
        #expect(places.addAgain(1) == [.close(10), .connect])
        #expect(places.lose(10) == [])
        #expect(places.connected(11) == [.start(1, 11)])
        #expect(places.count == 1)
    }

    @Test func anUnneededConnectionIsKeptForLater() {
        var places = places()
        _ = places.add(1)
        places.remove(1)
        #expect(places.connected(10) == [.keep(10)])
        #expect(places.add(2) == [.start(2, 10)])
    }

    @Test func onlyUnusedConnectionsAreRetired() {
        var places = places()
        _ = places.add(1)
        _ = places.connected(10)
        #expect(places.retire(10) == false)
        _ = places.free(10)
        #expect(places.retire(10) == true)
        #expect(places.retire(10) == false)
        #expect(places.count == 0)
    }

    @Test func nothingStartsAfterClosing() {
        var places = places(2, 5)
        for request in 1...4 { _ = places.add(request) }
        _ = places.connected(10)
        let left = places.close()
        #expect(left.waiting == [2, 3, 4] && left.connections == [10])
        #expect(places.connected(11) == [.close(11)])
        #expect(places.add(5) == [.fail(5, .closed)])
        #expect(places.lose(10, retrying: 1) == [.fail(1, .closed)])
        #expect(places.free(10) == [])
    }

    /// A random walk: each request has one connection, each connection carries one request, and no request waits while
    /// a connection is free or could be made.
    @Test(arguments: 0..<50) func noRequestWaitsWhileAConnectionIsFree(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let limit = Int.random(in: 1...4, using: &numbers)
        var walk = Walk(limit: limit)
        for step in 0..<1000 {
            walk.step(Int.random(in: 0..<10, using: &numbers), &numbers)
            walk.check("seed \(seed), step \(step)")
        }
        walk.finish()
        walk.check("seed \(seed), end")
        #expect(walk.waiting.isEmpty && walk.carried.isEmpty)
    }
}

/// A `Places` and a naive model of the requests and connections around it.
private struct Walk {
    private var places: Places<Int, Int>
    private let limit: Int
    private var last = 0
    private var connecting = 0
    private var connections: Set<Int> = []
    private(set) var waiting: Set<Int> = []
    /// Requests by their connections.
    private(set) var carried: [Int: Int] = [:]
    private var isWrong = false

    init(limit: Int) {
        self.limit = limit
        places = Places(maxConnections: limit, maxWaiting: 6) { $0 % 3 == 0 }
    }

    /// Every third request writes.
    private func isLong(_ request: Int) -> Bool { request % 3 == 0 }

    /// How many waiting requests could start.
    private var startable: Int {
        let running = carried.values.count { isLong($0) }
        return waiting.count { !isLong($0) } + min(waiting.count { isLong($0) }, max(limit / 2, 1) - running)
    }

    mutating func step(_ kind: Int, _ numbers: inout SeededNumbers) {
        switch kind {
        case 0...2:
            last += 1
            waiting.insert(last)
            take(places.add(last))
        case 3...4 where connecting > 0: connect()
        case 5 where connecting > 0:
            connecting -= 1
            take(places.failedToConnect(.connectionLost))
        case 6...7:
            if let connection = carried.keys.sorted().randomElement(using: &numbers) { free(connection) }
        case 8:
            guard let connection = connections.sorted().randomElement(using: &numbers) else { return }
            connections.remove(connection)
            let request = carried.removeValue(forKey: connection)
            let isTriedAgain = request != nil && Bool.random(using: &numbers)
            if let request, isTriedAgain { waiting.insert(request) }
            take(places.lose(connection, retrying: isTriedAgain ? request : nil))
        case 9:
            if let connection = connections.sorted().randomElement(using: &numbers) {
                if places.retire(connection) != (carried[connection] == nil) { isWrong = true }
                if carried[connection] == nil { connections.remove(connection) }
            }
            if let request = waiting.sorted().randomElement(using: &numbers), Bool.random(using: &numbers) {
                waiting.remove(request)
                places.remove(request)
            }
        default: break
        }
    }

    /// Lets every connection succeed and every request end.
    mutating func finish() {
        while connecting > 0 || !carried.isEmpty {
            while connecting > 0 { connect() }
            if let connection = carried.keys.min() { free(connection) }
        }
    }

    private mutating func connect() {
        connecting -= 1
        last += 1
        connections.insert(last)
        take(places.connected(last))
    }

    private mutating func free(_ connection: Int) {
        carried[connection] = nil
        take(places.free(connection))
    }

    private mutating func take(_ actions: [Places<Int, Int>.Action]) {
        for action in actions {
            switch action {
            case .connect: connecting += 1
            case .start(let request, let connection):
                if waiting.remove(request) == nil || carried[connection] != nil || !connections.contains(connection) {
                    isWrong = true
                }
                carried[connection] = request
            case .keep(let connection): if carried[connection] != nil { isWrong = true }
            case .fail(let request, _): if waiting.remove(request) == nil { isWrong = true }
            case .close(let connection):
                if carried[connection] != nil || connections.remove(connection) == nil { isWrong = true }
            }
        }
    }

    func check(_ place: String) {
        let isRight =
            !isWrong && places.count == connections.count + connecting && places.count <= limit
            && places.waitingCount == waiting.count && places.unusedCount == connections.count - carried.count
            // Every request that may start has a connection that is being made, or the limit of connections is reached.
            && startable >= 0 && (startable <= connecting || connections.count + connecting == limit)
            && (startable == 0 || connecting > 0 || places.unusedCount == 0)
        if !isRight { Issue.record("\(place): \(self)") }
    }
}
