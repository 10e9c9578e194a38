import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Records the events of one prefetched list.
final class ListBook: Sendable {
    private let told = Guarded<[PrefetchEvent]>([])

    func take(_ event: PrefetchEvent) { told.withLock { $0.append(event) } }

    var events: [PrefetchEvent] { told.withLock { $0 } }
    var items: [PrefetchedItem] {
        events.compactMap { if case .item(let item, _) = $0 { item } else { nil } }
    }
    var ends: [PrefetchProgress] {
        events.compactMap { if case .finished(let progress) = $0 { progress } else { nil } }
    }
    var begun: [Int] { events.compactMap { if case .began(let index) = $0 { index } else { nil } } }
}

/// The events of a list, and their order.
extension ImagePrefetcherTests {
    /// A slow listener is not flooded: while it handles events, no more pictures begin than may run at once.
    @Test func aSlowListenerLimitsHowManyPicturesBegin() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        var options = PrefetchOptions()
        options.width = 3
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let (gate, book) = (Gate(), ListBook())
        let token = prefetcher.prefetch(Self.urls(40)) { event in
            if case .item = event { gate.wait() }
            book.take(event)
        }
        // All running pictures have ended, and their events wait for the listener.
        #expect(await eventually { token.progress.finished >= 3 && bench.transport.running == 0 })
        #expect(bench.transport.requests.count <= 6)
        gate.open()
        #expect(await token.finished().loaded == 40)
        #expect(await eventually { book.ends.count == 1 })
        #expect(book.items.count == 40)
        if case .finished = book.events.last {} else { Issue.record("the end came before something else") }
    }

    /// The end of a list without a listener once began pictures of a list with one on Swift's own threads.
    @Test func aListenerIsNotCalledOnSwiftsOwnThreads() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        var options = PrefetchOptions()
        options.width = 1
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let inTask = Guarded<[Bool]>([])
        prefetcher.isPaused = true
        let silent = prefetcher.prefetch(Self.urls(5))
        let token = prefetcher.prefetch(Self.urls(10)) { _ in
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            inTask.withLock { $0.append(isInTask) }
        }
        await Task.detached { prefetcher.isPaused = false }.value
        _ = await silent.finished()
        _ = await token.finished()
        await prefetcher.finished()
        #expect(inTask.withLock { $0.count } >= 21 && inTask.withLock { !$0.contains(true) })
    }

    /// An executor that only queues closures, like a blocked main queue, was once flooded: all pictures of the list
    /// began, and each had its closures waiting.
    @Test func aBusyExecutorLimitsHowManyPicturesBegin() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let (callbacks, book) = (HeldCallbacks(), ListBook())
        let token = prefetcher.prefetch(Self.urls(40), on: callbacks.executor, onEvent: book.take)
        #expect(await eventually { token.progress.finished >= 3 && bench.transport.running == 0 })
        #expect(bench.transport.requests.count == 3 && callbacks.count == 1 && book.events.isEmpty)
        #expect(
            await eventually {
                callbacks.run()
                return !book.ends.isEmpty
            })
        #expect(await token.finished().loaded == 40)
        // Several threads begin pictures, so that the listener may hear of two in the other order.
        #expect(book.ends.count == 1 && book.items.count == 40 && book.begun.sorted() == Array(0..<40))
        if case .finished = book.events.last {} else { Issue.record("the end came before something else") }
    }

    /// A list's end is its last event, even if several pictures end at once.
    @Test func theEndComesAfterEveryPicture() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        var options = PrefetchOptions()
        options.width = 8
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        for turn in 0..<40 {
            let book = ListBook()
            let urls = (0..<8).map { "http://list.test/\(turn)/\($0).png" }
            let end = await prefetcher.prefetch(urls, onEvent: book.take).finished()
            #expect(end.loaded == 8 && book.items.count == 8 && book.ends == [end])
            if case .finished? = book.events.last {} else { Issue.record("something came after the end") }
        }
    }

    /// While a listener still handles a beginning or a progress, other threads only queue the events of pictures that end.
    /// Callers that waited for the list were once told of its end before the listener heard of those pictures.
    @Test func theListenerHearsOfTheEndBeforeThoseWhoWaitForIt() async throws {
        let (book, answer) = (ListBook(), CancellableAnswer<PrefetchProgress>())
        var progress = PrefetchProgress(total: 1)
        progress.skipped = 1
        let own = Guarded<PrefetchList?>(nil)
        let isEarly = Guarded<Bool?>(nil)
        let list = PrefetchList({ _ throws(WebImageError) in throw .cancelled }, .direct) { [progress] event in
            book.take(event)
            guard case .began = event, let list = own.withLock({ $0 }) else { return }
            // As another thread would, while this one is here.
            _ = list.tell(.item(PrefetchedItem(index: 0, outcome: .skipped), progress))
            list.note(end: progress)
            list.reportEnd(progress)
            isEarly.withLock { $0 = answer.isGiven }
        }
        own.withLock { $0 = list }
        list.whenEnded(answer)
        _ = list.tell(.began(index: 0))
        #expect(isEarly.withLock { $0 } == false && answer.isGiven)
        #expect(book.items.count == 1 && book.ends == [progress])
        #expect(try await answer.value() == progress)
        own.withLock { $0 = nil }
    }

    /// Whoever waits for all lists once heard of the end before the listeners.
    @Test func theEndOfAllListsComesAfterTheListeners() async throws {
        let folder = try TemporaryFolder()
        let prefetcher = ImagePrefetcher(manager: try bench(folder).manager)
        let book = ListBook()
        let waiting = Guarded<[@Sendable () -> Void]>([])
        // A busy main loop.
        let executor = CallbackExecutor { run in waiting.withLock { $0.append(run) } }
        prefetcher.prefetch(["http://list.test/a.png"], on: executor, onEvent: book.take)
        let hasEnded = Guarded(false)
        let end = Task {
            await prefetcher.finished()
            hasEnded.withLock { $0 = true }
        }
        #expect(await eventually { prefetcher.runningLists == 0 })
        for _ in 0..<1000 { await Task.yield() }
        #expect(!hasEnded.withLock { $0 } && book.ends.isEmpty)
        while !hasEnded.withLock({ $0 }) {
            for run in waiting.withLock({ runs in
                defer { runs = [] }
                return runs
            }) { run() }
            await Task.yield()
        }
        await end.value
        #expect(book.ends.count == 1 && book.items.count == 1)
    }

    /// A transfer's progress and its end come from different threads, and a list may be cancelled while a picture
    /// begins.
    @Test func eventsOfEndedPicturesAndListsAreDropped() throws {
        let book = ListBook()
        let list = PrefetchList({ _ throws(WebImageError) in throw .cancelled }, .direct, book.take)
        let (progress, half) = (PrefetchProgress(total: 2), LoadProgress(received: 1, expected: 2))
        _ = list.tell(.began(index: 0))
        _ = list.tell(.transfer(index: 0, half))
        #expect(list.tell(.item(PrefetchedItem(index: 0, outcome: .skipped), progress)))
        _ = list.tell(.transfer(index: 0, half))
        #expect(book.events.count == 3)
        list.reportEnd(progress)
        #expect(!list.tell(.began(index: 1)) && !list.tell(.transfer(index: 1, half)))
        #expect(book.events.count == 4 && book.ends == [progress] && book.begun == [0])
    }

    /// Pictures that end at the same time are reported by several threads in any order, which once made a progress bar
    /// go back.
    @Test func theProgressNeverGoesBack() throws {
        let book = ListBook()
        let list = PrefetchList({ _ throws(WebImageError) in throw .cancelled }, .direct, book.take)
        var progress = (0...3).map { _ in PrefetchProgress(total: 3) }
        for count in 0...3 { progress[count].skipped = count }
        for (index, count) in [2, 1, 3].enumerated() {
            _ = list.tell(.item(PrefetchedItem(index: index, outcome: .skipped), progress[count]))
        }
        let told = book.events.compactMap { if case .item(_, let progress) = $0 { progress.skipped } else { nil } }
        #expect(told == [2, 2, 3] && book.items.map(\.index) == [0, 1, 2])
    }
}
