import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

struct LoadObserverTests {
    private let book = LogBook()

    /// The value of `times` in each logged line.
    private var counts: [String] {
        book.lines.map { line in
            line.split(separator: #""times": "#).last.map { String($0.prefix { $0.isNumber }) } ?? ""
        }
    }

    /// Storing 2 000 pictures in a directory that cannot be written once logged 4 000 warnings.
    @Test func diskErrorsAreLoggedAtPowersOfTen() {
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

    /// A full cache once logged nothing.
    @Test func skippedStoresAreLoggedAtPowersOfTen() {
        let observer = LoadObserver(logger: book.logger)
        for _ in 0..<500 { observer.cacheSkipped() }
        #expect(counts == ["1", "10", "100"] && book.lines.allSatisfy { $0.hasPrefix("warning") })
    }
}
