import Logging
import Synchronization
import Testing
import WebImageCore
import WebImageSystem

@testable import WebImage

struct LoadObserverTests {
    /// Takes down what is logged.
    private final class Book: Sendable {
        let lines = Guarded<[String]>([])
        var logger: Logger { Logger(label: "test") { _ in Handler(book: self) } }
    }

    private struct Handler: LogHandler {
        let book: Book
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            book.lines.withLock { $0.append("\(event.level) \(event.metadata?["times"].map { "\($0)" } ?? "")") }
        }
    }

    /// 2 000 pictures into a directory that cannot be written made 4 000 warnings.
    @Test func troubleWithTheDiskIsSaidOnceAndThenCounted() {
        let book = Book()
        let observer = LoadObserver(logger: book.logger)
        for _ in 0..<2000 { observer.cacheFailed(WebImageError(.readOnly, "the folder cannot be written")) }
        #expect(book.lines.withLock { $0 } == ["warning 1", "warning 10", "warning 100", "warning 1000"])
        observer.cacheFailed(WebImageError(.cacheIO, "something else"))
        #expect(book.lines.withLock { $0.count } == 5)
    }

    /// A cache that is full said nothing at all.
    @Test func storesThatAreSkippedAreSaidOnceAndThenCounted() {
        let book = Book()
        let observer = LoadObserver(logger: book.logger)
        for _ in 0..<500 { observer.cacheSkipped() }
        #expect(book.lines.withLock { $0 } == ["warning 1", "warning 10", "warning 100"])
    }
}
