import Metrics
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
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

    /// A load through an interceptor was once counted twice: as the caller's load and as the one behind the interceptor.
    @Test func aLoadThroughAnInterceptorIsCountedOnce() async throws {
        struct Passing: ImageInterceptor {}
        let (bench, counts) = (TestBench(), LoadCounts())
        let (url, missing) = ("http://pictures.test/a.png", "http://pictures.test/missing.png")
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        bench.transport.answer(missing, .status(404))
        let manager = bench.manager
        let loader = Loader(
            LoaderParts(
                cache: manager.ownCache, downloader: manager.downloader, failedURLs: manager.failedURLs,
                decoding: manager.loader.decoding, observer: LoadObserver(logger: book.logger, factory: counts),
                interceptors: [Passing()]))
        #expect(try await loader.image(for: ImageRequest(url)).source == .network)
        #expect(await eventually { counts.sources == ["network": 1] })
        var replaced = ImageRequest(missing)
        replaced.options.fallback = Fixture.gradient(4, 4)
        #expect(try await loader.image(for: replaced).source == .given)
        #expect(await eventually { counts.sources == ["network": 1, "given": 1] })
        let ledger = Ledger()
        let token = LoadToken(loader: loader, request: ImageRequest(url), isWatching: true)
        loader.begin(token, ImageRequest(url), .callback(EventCallback { ledger.take($0) }))
        #expect(try await ledger.finished().get().source == .memory)
        #expect(await eventually { counts.sources == ["network": 1, "given": 1, "memory": 1] })
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

/// Metrics that count the loads of each source.
private final class LoadCounts: MetricsFactory {
    private let counts = Guarded<[String: Int]>([:])

    /// The sources with loads, and their numbers.
    var sources: [String: Int] { counts.withLock { $0 } }

    private final class Sum: CounterHandler {
        private let add: @Sendable (Int64) -> Void

        init(_ add: @escaping @Sendable (Int64) -> Void) { self.add = add }

        func increment(by amount: Int64) { add(amount) }
        func reset() {}
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard label == "webimage.loads", let source = dimensions.first?.1 else {
            return NOOPMetricsHandler.instance
        }
        return Sum { [self] amount in counts.withLock { $0[source, default: 0] += Int(amount) } }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
