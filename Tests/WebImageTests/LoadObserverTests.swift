import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

struct LoadObserverTests {
    private let book = LogBook()

    /// How often it had happened when it was said, and nothing else.
    private var counts: [String] {
        book.lines.map { line in
            line.split(separator: #""times": "#).last.map { String($0.prefix { $0.isNumber }) } ?? ""
        }
    }

    /// 2 000 pictures into a directory that cannot be written made 4 000 warnings.
    @Test func troubleWithTheDiskIsSaidOnceAndThenCounted() {
        let observer = LoadObserver(logger: book.logger)
        for _ in 0..<2000 { observer.cacheFailed(WebImageError(.readOnly, "the folder cannot be written")) }
        #expect(counts == ["1", "10", "100", "1000"] && book.lines.allSatisfy { $0.hasPrefix("warning") })
        observer.cacheFailed(WebImageError(.cacheIO, "something else"))
        #expect(book.lines.count == 5)
    }

    /// A server that could not start said that its disk cache had failed.
    @Test func aCancelledCallIsNoTrouble() {
        LoadObserver(logger: book.logger).cacheFailed(.cancelled)
        #expect(book.lines == [])
    }

    /// A cache that is full said nothing at all.
    @Test func storesThatAreSkippedAreSaidOnceAndThenCounted() {
        let observer = LoadObserver(logger: book.logger)
        for _ in 0..<500 { observer.cacheSkipped() }
        #expect(counts == ["1", "10", "100"] && book.lines.allSatisfy { $0.hasPrefix("warning") })
    }
}
