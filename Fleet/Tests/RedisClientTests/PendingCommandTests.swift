import NIOCore
import Testing

@testable import RedisClient

@Suite struct PendingCommandTests {
    private static func time(_ milliseconds: UInt64) -> NIODeadline { .uptimeNanoseconds(milliseconds * 1_000_000) }

    /// The commands to which the next answers belong.
    private func owners(_ count: Int, of pending: inout PendingCommands<String>) -> [String] {
        var owners: [String] = []
        for _ in 0..<count {
            switch pending.takeAnswer() {
            case .command(let name): owners.append(name)
            case .late: owners.append("late")
            case .nobody: owners.append("nobody")
            }
        }
        return owners
    }

    private func all(_ expired: (written: [String], unwritten: [String])) -> [String] {
        expired.written + expired.unwritten
    }

    /// An answer belongs to the oldest command without an answer, even after that command's deadline.
    @Test func aLateAnswerIsGivenToNobody() {
        var pending = PendingCommands<String>(most: 10)
        pending.addWritten("a", until: Self.time(50))
        pending.addWritten("b", until: Self.time(60))
        #expect(all(pending.expire(at: Self.time(49))) == [])
        #expect(all(pending.expire(at: Self.time(50))) == ["a"])
        #expect(all(pending.expire(at: Self.time(55))) == [])
        #expect(pending.lateSince == Self.time(50))
        #expect(owners(3, of: &pending) == ["late", "b", "nobody"])
        #expect(pending.lateCount == 1)
        #expect(pending.count == 0)
    }

    @Test func lateCommandsCountAgainstTheLimitUntilAnswered() {
        var pending = PendingCommands<Int>(most: 2)
        pending.addWritten(1, until: Self.time(1))
        pending.addWritten(2, until: Self.time(1))
        _ = pending.expire(at: Self.time(2))
        #expect(pending.isFull)
        _ = pending.takeAnswer()
        #expect(!pending.isFull)
    }

    /// A command that may take long does not delay the end of those behind it.
    @Test func laterCommandsMayHaveEarlierDeadlines() {
        var pending = PendingCommands<String>(most: 10)
        pending.addWritten("a", until: Self.time(500))
        pending.addWritten("b", until: Self.time(60))
        #expect(pending.nextDeadline == Self.time(60))
        #expect(all(pending.expire(at: Self.time(60))) == ["b"])
        #expect(pending.nextDeadline == Self.time(500))
        pending.addUnwritten("c", ByteBuffer(string: "C"), until: Self.time(400))
        pending.addUnwritten("d", ByteBuffer(string: "D"), until: Self.time(100))
        #expect(pending.nextDeadline == Self.time(100))
        #expect(all(pending.expire(at: Self.time(100))) == ["d"])
        #expect(pending.writeWaiting() == [ByteBuffer(string: "C")])
        #expect(owners(3, of: &pending) == ["a", "late", "c"])
    }

    /// A command that could not be written in time must not be carried out later.
    @Test func commandsNotWrittenInTimeAreNeverWritten() {
        var pending = PendingCommands<String>(most: 10)
        pending.addUnwritten("a", ByteBuffer(string: "A"), until: Self.time(50))
        pending.addUnwritten("b", ByteBuffer(string: "B"), until: Self.time(60))
        #expect(pending.nextDeadline == Self.time(50))
        #expect(pending.expire(at: Self.time(50)).unwritten == ["a"])
        #expect(pending.writeWaiting() == [ByteBuffer(string: "B")])
        #expect(pending.loseAll() == ["b"])
    }
}

@Suite struct SubscriptionTests {
    @Test func listenersOfAChannelShareOneSubscription() {
        var subscriptions = Subscriptions()
        #expect(subscriptions.connect() == [])
        #expect(subscriptions.add(1, to: "a").writes)
        #expect(!subscriptions.add(2, to: "a").writes)
        #expect(subscriptions.confirm("a") == [1, 2])
        let third = subscriptions.add(3, to: "a")
        #expect(third.isActive && !third.writes)
        #expect(subscriptions.remove(1, from: "a") == false)
        #expect(subscriptions.remove(2, from: "a") == false)
        #expect(subscriptions.remove(3, from: "a") == true)
        #expect(subscriptions.remove(3, from: "a") == false)
        #expect(subscriptions.isEmpty)
    }

    /// The first confirmation belongs to the first SUBSCRIBE. An UNSUBSCRIBE and a second SUBSCRIBE have been sent
    /// since.
    @Test func aNewSubscriberWaitsForItsOwnConfirmation() {
        var subscriptions = Subscriptions()
        _ = subscriptions.connect()
        _ = subscriptions.add(1, to: "a")
        #expect(subscriptions.remove(1, from: "a") == true)
        #expect(subscriptions.add(2, to: "a").writes)
        #expect(subscriptions.confirm("a") == [])
        #expect(subscriptions.confirm("a") == [2])
    }

    @Test func aNewConnectionSubscribesToAllThatIsWanted() {
        var subscriptions = Subscriptions()
        #expect(!subscriptions.add(1, to: "b").writes)
        _ = subscriptions.add(2, to: "a")
        #expect(subscriptions.connect() == ["a", "b"])
        #expect(subscriptions.confirm("a") == [2])
        // Only the listener whose subscription was confirmed is told that messages may be missed.
        #expect(subscriptions.disconnect() == [2])
        #expect(subscriptions.remove(2, from: "a") == false)
        #expect(subscriptions.connect() == ["b"])
    }
}
