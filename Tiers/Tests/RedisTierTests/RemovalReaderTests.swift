import Testing

@testable import RedisTier

@Suite struct RemovalReaderTests {
    private typealias News = RedisStore.News

    /// The removals with these numbers. Earlier ones are no longer in the list.
    private func list(_ numbers: ClosedRange<Int>) -> [News.Item] {
        numbers.map { News.Item(id: "\($0)-0", previous: "\($0 - 1)-0", fields: [[UInt8($0 % 256)]]) }
    }

    private func news(_ all: [News.Item], after number: Int) -> News {
        let read = all.filter { Int($0.id.dropLast(2)) ?? 0 > number }
        return News(last: all.last?.id ?? "0-0", items: Array(read.prefix(RedisStore.maxRead)))
    }

    @Test func theFirstReadingTellsNothing() {
        var reader = RemovalReader()
        #expect(reader.take(News(last: "7-0", items: [])) == RemovalReader.Step())
        #expect(reader.last == "7-0")
    }

    /// Redis could not be read when the program began to follow removals.
    @Test func aFirstReadingThatComesLateTellsThatSomeMayBeMissed() {
        var reader = RemovalReader()
        reader.noteFailure()
        reader.noteFailure()
        #expect(reader.take(News(last: "7-0", items: [])) == .init(missedSome: true))
        reader.noteFailure()
        #expect(reader.take(News(last: "7-0", items: [])) == .init())
    }

    @Test func removalsSinceTheLastReadingAreReported() {
        var reader = RemovalReader()
        _ = reader.take(News(last: "0-0", items: []))
        #expect(reader.take(news(list(1...3), after: 0)) == .init(removals: [[[1]], [[2]], [[3]]]))
        #expect(reader.take(news(list(1...3), after: 3)) == .init())
        #expect(reader.take(news(list(1...4), after: 3)) == .init(removals: [[[4]]]))
    }

    @Test func aLongListIsReadInParts() {
        var reader = RemovalReader()
        _ = reader.take(News(last: "0-0", items: []))
        let first = reader.take(news(list(1...700), after: 0))
        #expect(first.hasMore && !first.missedSome && first.removals.count == 500)
        let second = reader.take(news(list(1...700), after: 500))
        #expect(!second.hasMore && !second.missedSome && second.removals.count == 200)
    }

    /// The oldest removals were trimmed from the list, among them some that had not been read.
    @Test func trimmedRemovalsAreNoticed() {
        var reader = RemovalReader()
        _ = reader.take(News(last: "2-0", items: []))
        let step = reader.take(news(list(5...6), after: 2))
        #expect(step.missedSome && step.removals.count == 2)
        #expect(!reader.take(news(list(5...7), after: 6)).missedSome)
    }

    /// Redis was emptied. The list is gone, or a new one has begun.
    @Test func aListThatIsLostIsNoticedOnce() {
        var reader = RemovalReader()
        _ = reader.take(News(last: "9-0", items: []))
        #expect(reader.take(News(last: "0-0", items: [])) == .init(missedSome: true))
        #expect(reader.take(News(last: "0-0", items: [])) == .init())
        _ = reader.take(News(last: "9-0", items: []))
        let step = reader.take(
            News(last: "20-0", items: [.init(id: "20-0", previous: "0-0", fields: [[20]])]))
        #expect(step == .init(removals: [[[20]]], missedSome: true))
    }

    /// A replica has taken over that had not received the last removals.
    @Test func aListThatWentBackIsNoticed() {
        var reader = RemovalReader()
        _ = reader.take(News(last: "9-0", items: []))
        #expect(reader.take(News(last: "8-0", items: [])).missedSome)
        #expect(!reader.take(news(list(1...9), after: 8)).missedSome)
    }
}
