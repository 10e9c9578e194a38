import Testing

@testable import FleetCoordination

struct PurgeTableTests {
    private let url = "https://example.org/a/b.jpg"

    private func table(_ purge: Purge, at time: Int = 100) -> PurgeTable {
        var table = PurgeTable()
        table.add(PurgeMember(purge), at: time)
        return table
    }

    @Test(arguments: [
        Purge.url("https://example.org/a/b.jpg"), .prefix("https://example.org/a/"), .prefix(""),
        .prefix("https://example.org/a/b.jpg"), .tag("t"), .all,
    ])
    func aPurgeCoversMatchingSourcesAndTags(purge: Purge) {
        let table = table(purge)
        let tags = [StableHash.of("s"), StableHash.of("t")]
        for begun in [1, 99, 100] {
            #expect(table.verdict(source: url, tags: tags, begun: begun) == .purged)
        }
        #expect(table.verdict(source: url, tags: tags, begun: 101) == .current)
    }

    @Test(arguments: [
        Purge.url("https://example.org/a/"), .url("https://example.org/a/b.jpg?"), .prefix("https://example.org/b"),
        .prefix("https://example.org/a/b.jpg/"), .prefix("ttps://example.org/a/"), .tag("T"),
    ])
    func aPurgeSparesOtherSourcesAndTags(purge: Purge) {
        #expect(table(purge).verdict(source: url, tags: [StableHash.of("t")], begun: 1) == .current)
    }

    @Test func resultsOlderThanTheFloorAreUnsure() {
        var table = table(.url(url))
        table.raiseFloor(to: 200)
        table.raiseFloor(to: 50)
        #expect(table.verdict(source: url, begun: 100) == .purged)
        #expect(table.verdict(source: url, begun: 200) == .unsure)
        #expect(table.verdict(source: url, begun: 201) == .current)
        #expect(table.verdict(source: "other", begun: 200) == .unsure)
        table.forget(until: 300)
        #expect(table.count == 0)
        #expect(table.verdict(source: url, begun: 300) == .unsure)
        #expect(table.verdict(source: url, begun: 301) == .current)
    }

    @Test func purgesOfThisMachineComeOneAfterAnother() {
        var table = PurgeTable()
        #expect(table.add(.all, now: 10) == 10)
        #expect(table.add(.url("a"), now: 10) == 11)
        #expect(table.add(.url("b"), now: 5) == 12)
        #expect(table.add(.url("b"), now: 100) == 100)
        #expect(table.count == 3)
    }

    @Test func tablesAreReadAsTheyAreWritten() {
        var table = table(.prefix("https://example.org/"), at: 7)
        for number in 0..<5 { table.add(.tag("\(number)"), now: 10) }
        table.add(.all, now: 20)
        table.raiseFloor(to: 3)
        var read = PurgeTable(text: table.text + "no line\n1\n2 3\n")
        #expect(read.floor == 3)
        #expect(read.text == table.text)
        #expect(read.latest == 20)
        read.trim(to: 3)
        #expect(read.count == 3)
        #expect(read.floor == 12)
        #expect(read.verdict(source: "b", tags: [StableHash.of("4")], begun: 13) == .purged)
    }

    @Test func membersAreReadAsTheyAreWritten() {
        let purges: [Purge] = [.url(url), .prefix("https://"), .prefix(""), .tag("a:b"), .all]
        for member in purges.map(PurgeMember.init) { #expect(PurgeMember(text: member.text) == member) }
        for text in ["", "all:1", "url", "url:", "url:xyz", "prefix:1", "prefix:-1:a", "tag:1:2", "list:abc", "new:1"] {
            #expect(PurgeMember(text: text) == nil)
        }
        #expect(PurgeMember(.tag("a")) != PurgeMember(.url("a")))
    }

    /// A merge leaves newer purges as they are, and reports everything that the other table knows and this one does not.
    @Test func tablesAreMerged() {
        let purges: [Purge] = [.url(url), .prefix("https://"), .tag("a"), .all]
        for purge in purges {
            for (mine, theirs) in [(5, 9), (9, 5)] {
                let book = PurgeBook(table(purge, at: mine))
                var other = table(purge, at: theirs)
                other.add(PurgeMember(.tag("b")), at: 3)
                other.raiseFloor(to: 2)
                book.merge(other)
                #expect(book.lastPurge(source: url, tags: [StableHash.of("a")]) == 9)
                #expect(book.lastPurge(source: "x", tags: [StableHash.of("b")]) == (purge == .all ? 9 : 3))
                #expect(book.latest == 9 && book.floor == 2 && book.count == 2)
            }
        }
    }

    @Test func theBookRemovesATenthMoreThanItMust() {
        let book = PurgeBook()
        for number in 0..<101 { book.add(.tag("\(number)"), now: 10 + number) }
        book.trim(to: 101)
        #expect(book.count == 101)
        book.trim(to: 100)
        #expect(book.count == 90 && book.floor == 20)
    }

    @Test func theBookGivesTheVerdictsOfTheTable() {
        let book = PurgeBook()
        #expect(book.verdict(source: url, begun: 0) == .unsure)
        #expect(book.verdict(source: url, begun: 1) == .current)
        book.add(.prefix("https://example.org/"), now: 50)
        #expect(book.verdict(source: url, begun: 50) == .purged)
        #expect(book.verdict(source: "http://other", begun: 50) == .current)
    }

    @Test func outcomesAreReadAsTheyAreWritten() {
        let outcomes = [
            FleetOutcome(.result, begun: 12, content: Array("\0 \r\n 1".utf8)), FleetOutcome(.unshared, begun: 1),
        ]
        for outcome in outcomes { #expect(FleetOutcome(outcome.bytes) == outcome) }
        for text in ["", "r", "r1", " ", "x1 a", "ra a", "r1234567890123456789012345 a"] {
            #expect(FleetOutcome(Array(text.utf8)) == nil)
        }
    }
}
