import Synchronization
import Testing
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// The loader's state machines and queues, against simple models.
@Suite struct LoadTableTests {
    /// Shutting down once did not end a job that makes its picture from one in memory, without bytes, so its caller
    /// waited for ever.
    @Test func shuttingDownEndsJobsThatTransformAPictureInMemory() throws {
        let loader = TestBench().manager.loader
        var table = LoadTable()
        let request = ImageRequest("http://table.test/0")
        let key = try PixelKey(request, by: loader.origin.downloader.snapshot)
        let token = LoadToken(loader: loader, request: request, isWatching: false)
        let basis = PictureBasis(response: ImageResponse(image: Fixture.gradient(2, 2), source: .memory), steps: 0)
        guard case .makesSteps = table.join(token, request, key, basis: basis) else {
            return #expect(Bool(false), "it is made of the picture")
        }
        token.delivery = .nobody
        let (ended, bytesJobs, _) = table.shutDown()
        #expect(ended.map { ObjectIdentifier($0.token) } == [ObjectIdentifier(token)] && bytesJobs.isEmpty)
        #expect(table.pixelJobs.isEmpty)
    }

    /// A transformer whose key a program computes, perhaps with locks of its own.
    private final class Observed: ImageTransformer {
        let name: String
        private let asked = Guarded(0)

        init(name: String) { self.name = name }

        /// How often the key was asked for.
        var count: Int { asked.withLock { $0 } }

        var key: String {
            asked.withLock { $0 += 1 }
            return name
        }

        func transform(_ image: Image) throws(WebImageError) -> Image { image }
    }

    /// Keys of transformers were once asked for under the table's lock.
    @Test func joiningAsksNoTransformerForItsKey() throws {
        let loader = TestBench().manager.loader
        var table = LoadTable()
        let steps = (0..<3).map { Observed(name: "step \($0)") }
        for count in 1...3 {
            let request = ImageRequest("http://table.test/0") { request in
                request.transformers = Array(steps[..<count])
            }
            let key = try PixelKey(request, by: loader.origin.downloader.snapshot)
            let token = LoadToken(loader: loader, request: request, isWatching: false)
            let waiter = LoadToken(loader: loader, request: request, isWatching: false)
            let before = steps.map(\.count)
            _ = table.join(token, request, key) { _, steps in
                #expect(steps == count - 1)
                return waiter
            }
            #expect(steps.map(\.count) == before)
            token.delivery = .nobody
            let job = try #require(token.job)
            #expect((job.basis != nil) == (count > 1))
            guard count == 1 else { continue }
            let opened = OpenedBytes(log: ByteLog(bytes: []), source: .disk, time: .zero)
            #expect(table.open(job.bytes, opened) != nil)
            let header = ImageHeader(format: .png, size: PixelSize(width: 2, height: 1))
            #expect(table.takeUnplanned(job.bytes, header).count == 1)
        }
    }

    /// Progress and previews of a picture were once made although no one followed those that are made from it.
    @Test func aPictureIsWatchedOnceSomeoneFollowsOneThatIsMadeOfIt() throws {
        let loader = TestBench().manager.loader
        var table = LoadTable()
        func join(_ steps: [any ImageTransformer], isWatching: Bool) throws -> PixelJob {
            let request = ImageRequest("http://table.test/0") { $0.transformers = steps }
            let key = try PixelKey(request, by: loader.origin.downloader.snapshot)
            let token = LoadToken(loader: loader, request: request, isWatching: isWatching)
            _ = table.join(token, request, key, waiter: loader.makeWaiter)
            token.delivery = .nobody
            return try #require(token.job)
        }
        let gray = try join([ImageTransform.gray()], isWatching: false)
        let opened = OpenedBytes(log: ByteLog(bytes: []), source: .disk, time: .zero)
        #expect(table.open(gray.bytes, opened) != nil)
        let header = ImageHeader(format: .png, size: PixelSize(width: 2, height: 1))
        #expect(table.takeUnplanned(gray.bytes, header).count == 1)
        let blurred = try join([ImageTransform.gray(), .blur(sigma: 2)], isWatching: false)
        let turned = try join([ImageTransform.gray(), .blur(sigma: 2), .invert], isWatching: false)
        #expect(blurred.basis?.job === gray && turned.basis?.job === blurred)
        #expect([gray, blurred, turned].allSatisfy { !$0.isWatched })
        #expect(try join([ImageTransform.gray(), .blur(sigma: 2), .invert], isWatching: true) === turned)
        #expect([gray, blurred, turned].allSatisfy(\.isWatched) && gray.bytes.isWatched.load(ordering: .relaxed))
        #expect(gray.watchers.count == 1 && blurred.watchers.count == 1 && turned.watchers.count == 1)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func theTableNeverLosesACaller(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let loader = TestBench().manager.loader
        var table = LoadTable()
        // The model: the tokens that wait, each with the key of its picture.
        var waiting: [(token: LoadToken, key: PixelKey)] = []
        var left: [LoadToken] = []
        for _ in 0..<1_000 {
            let jobs = table.pixelJobs.values.sorted { $0.key.variantKey.text < $1.key.variantKey.text }
            let bytesJobs = table.bytesJobs.values.sorted { $0.key.originalKey.text < $1.key.originalKey.text }
            switch random.below(8) {
            case 0..<3:
                var request = ImageRequest("http://table.test/\(random.below(3))")
                request.size = TargetSize(width: 1 + random.below(4))
                request.priority = LoadPriority.allCases[random.below(4)]
                let key = try PixelKey(request, by: loader.origin.downloader.snapshot)
                let token = LoadToken(loader: loader, request: request, isWatching: random.below(2) == 0)
                let hadBytes = table.bytesJobs[key.bytes]
                let joined = table.join(token, request, key)
                token.delivery = .callback(EventCallback { _ in })
                switch joined {
                case .opensBytes(let job): #expect(hadBytes == nil && table.bytesJobs[key.bytes] === job)
                case .startsSession(let job, _): #expect(hadBytes === job && job.opened != nil)
                case .waiting: #expect(hadBytes != nil)
                case .makesSteps, .refused: Issue.record("nothing was shut down, and memory has nothing")
                }
                waiting.append((token, key))
            case 3:
                guard !waiting.isEmpty else { continue }
                let (token, key) = waiting.remove(at: random.below(waiting.count))
                let isLast = !waiting.contains { $0.key.bytes == key.bytes }
                let outcome = table.leave(token)
                #expect(outcome != nil)
                #expect((outcome?.abandoned != nil) == isLast)
                let isAbandoned = outcome?.abandoned?.isAbandoned.load(ordering: .relaxed)
                #expect(isAbandoned != false)
                left.append(token)
            case 4:
                // A session finishes one picture.
                guard !jobs.isEmpty else { continue }
                let job = jobs[random.below(jobs.count)]
                let ended = table.finish(job)
                let expected = waiting.filter { $0.key == job.key }.map { ObjectIdentifier($0.token) }
                #expect(Set(ended.map { ObjectIdentifier($0.token) }) == Set(expected))
                #expect(table.finish(job).isEmpty)
                left += ended.map(\.token)
                waiting.removeAll { $0.key == job.key }
            case 5:
                guard !bytesJobs.isEmpty else { continue }
                let job = bytesJobs[random.below(bytesJobs.count)]
                let opened = OpenedBytes(log: ByteLog(bytes: [1]), source: .network, time: .zero)
                if job.opened == nil {
                    #expect(table.open(job, opened) == job.priority)
                } else {
                    _ = table.takeUnplanned(job)
                }
            case 6:
                guard !bytesJobs.isEmpty, random.below(4) == 0 else { continue }
                let job = bytesJobs[random.below(bytesJobs.count)]
                let ended = table.finishAll(of: job)
                #expect(ended.count == waiting.count { $0.key.bytes == job.key })
                #expect(table.open(job, OpenedBytes(log: ByteLog(bytes: []), source: .disk, time: .zero)) == nil)
                waiting.removeAll { $0.key.bytes == job.key }
            default:
                guard let (token, key) = waiting.randomElement(using: &random) else { continue }
                let changed = table.setPriority(LoadPriority.allCases[random.below(4)], of: token)
                #expect(changed == nil || changed?.key == key.bytes)
            }
            #expect(agrees(table, with: waiting))
            #expect(left.allSatisfy { $0.job == nil && $0.delivery == nil && $0.hasEnded })
            for token in left { #expect(table.leave(token) == nil) }
            left = []
        }
        let (ended, _, _) = table.shutDown()
        #expect(ended.count == waiting.count && table.pixelJobs.isEmpty && table.bytesJobs.isEmpty)
        let request = ImageRequest("http://table.test/0")
        let token = LoadToken(loader: loader, request: request, isWatching: false)
        guard
            case .refused(let error) = table.join(
                token, request, try PixelKey(request, by: loader.origin.downloader.snapshot))
        else {
            Issue.record("a table that was shut down takes nobody")
            return
        }
        #expect(error.code == .shutDown)
    }

    private func agrees(_ table: LoadTable, with waiting: [(token: LoadToken, key: PixelKey)]) -> Bool {
        let tokensAreInPlace = waiting.allSatisfy { token, key in
            token.job === table.pixelJobs[key] && token.job?.tokens[token.index] === token && !token.hasEnded
        }
        let count = table.pixelJobs.values.reduce(0) { $0 + $1.tokens.count }
        return tokensAreInPlace && count == waiting.count && Set(table.pixelJobs.keys) == Set(waiting.map(\.key))
            && Set(table.bytesJobs.keys) == Set(waiting.map(\.key.bytes))
            && table.bytesJobs.values.allSatisfy { job in
                agrees(job, with: waiting.filter { $0.key.bytes == job.key })
            }
    }

    private func agrees(_ job: BytesJob, with own: [(token: LoadToken, key: PixelKey)]) -> Bool {
        let keys = Set(own.map(\.key))
        return Set(job.pixelJobs.map(\.key)) == keys && job.pixelJobs.count == keys.count
            && job.priority == own.map(\.token.currentPriority).max()
            && job.unplanned.allSatisfy { unplanned in job.pixelJobs.contains { $0 === unplanned } }
            // Unplanned jobs will be planned, either when the bytes are opened or by a session that is planning.
            && (job.unplanned.isEmpty || job.opened == nil || job.hasPlanningSession)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func memoryIsGivenOutInOrderAndWithinTheBudget(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let admission = Admission(budget: 100)
        let owner = Admitted()
        let admitted = Admitted()
        var running: [(number: Int, bytes: Int)] = []
        var queue: [(number: Int, bytes: Int)] = []
        for number in 0..<3_000 {
            if random.below(2) == 0 || running.isEmpty {
                let bytes = 1 + random.below(random.below(10) == 0 ? 300 : 40)
                let used = running.reduce(0) { $0 + $1.bytes }
                let fits = queue.isEmpty && (used == 0 || used + bytes <= 100)
                if random.below(3) == 0 {
                    let isTaken = admission.take(bytes, .normal)
                    #expect(isTaken == fits)
                    if isTaken { running.append((number, bytes)) }
                } else {
                    let isTaken = admission.take(bytes, .normal, for: owner, isWanted: { true }) { isAdmitted in
                        #expect(isAdmitted)
                        admitted.numbers.withLock { $0.append(number) }
                    }
                    #expect(isTaken == fits)
                    if isTaken { running.append((number, bytes)) } else { queue.append((number, bytes)) }
                }
            } else {
                admission.give(running.remove(at: random.below(running.count)).bytes)
                while let first = queue.first {
                    let used = running.reduce(0) { $0 + $1.bytes }
                    guard used == 0 || used + first.bytes <= 100 else { break }
                    running.append(queue.removeFirst())
                    #expect(admitted.takeFirst() == first.number)
                }
            }
            #expect(admitted.takeFirst() == nil)
            #expect(admission.used == running.reduce(0) { $0 + $1.bytes })
            #expect(admission.used <= 100 || running.count == 1)
        }
        while let next = running.popLast() {
            admission.give(next.bytes)
            while let number = admitted.takeFirst() {
                #expect(queue.first?.number == number)
                running.append(queue.removeFirst())
            }
        }
        #expect(queue.isEmpty && admission.used == 0)
    }

    @Test func aLateReaderGetsTheNewestProgressPreviewAndEnd() async throws {
        let mailbox = EventMailbox()
        for received in 1...5 { mailbox.post(.progress(LoadProgress(received: ByteCount(received), expected: 9))) }
        mailbox.post(.preview(Fixture.gradient(1, 1)))
        mailbox.post(.preview(Fixture.gradient(2, 1)))
        guard case .progress(let progress) = await mailbox.next() else { throw Unexpected() }
        #expect(progress.received.bytes == 5)
        guard case .preview(let image) = await mailbox.next() else { throw Unexpected() }
        #expect(image.size.width == 2)
        mailbox.post(.progress(progress))
        mailbox.post(.preview(image))
        mailbox.post(.finished(.success(ImageResponse(image: image, source: .memory))))
        mailbox.post(.progress(progress))
        mailbox.post(.finished(.failure(.cancelled)))
        guard case .finished(.success) = await mailbox.next() else { throw Unexpected() }
        mailbox.post(.progress(progress))
        let (first, second) = (await mailbox.next(), await mailbox.next())
        #expect(first == nil && second == nil)
    }

    @Test func aFailedPicturesLastPreviewIsStillSeen() async throws {
        let mailbox = EventMailbox()
        mailbox.post(.preview(Fixture.gradient(2, 1)))
        mailbox.post(.finished(.failure(WebImageError(.badImageData, "cut"))))
        guard case .preview = await mailbox.next() else { throw Unexpected() }
        guard case .finished(.failure) = await mailbox.next() else { throw Unexpected() }
        #expect(await mailbox.next() == nil)
    }

    @Test func aReaderThatWaitsIsWoken() async throws {
        for _ in 0..<200 {
            let mailbox = EventMailbox()
            let reader = Task {
                var ends = 0
                while let event = await mailbox.next() {
                    if case .finished = event { ends += 1 }
                }
                return ends
            }
            mailbox.post(.progress(LoadProgress(received: 1, expected: nil)))
            mailbox.post(.finished(.failure(.cancelled)))
            #expect(await reader.value == 1)
        }
    }

    /// A main queue that was blocked once gathered a closure, and a bitmap, for each event.
    @Test func aBusyExecutorIsGivenOneClosureForAllEvents() {
        let executor = HeldCallbacks()
        let events = Guarded<[ImageEvent]>([])
        let callback = EventCallback(on: executor.executor) { event in events.withLock { $0.append(event) } }
        for count in 1...100 {
            callback.post(.progress(LoadProgress(received: ByteCount(count), expected: nil)))
            callback.post(.preview(Fixture.gradient(count, 1)))
        }
        #expect(executor.count == 1 && events.withLock { $0.isEmpty })
        executor.run()
        let sizes = events.withLock { $0 }.map { event in
            switch event {
            case .progress(let progress): progress.received.bytes
            case .preview(let image): image.size.width
            case .cached, .finished: 0
            }
        }
        #expect(sizes == [100, 100], "the newest of each kind")
        for _ in 0..<3 { callback.post(.finished(.failure(.cancelled))) }
        #expect(executor.count == 1)
        executor.run()
        // What comes too late is dropped without a closure.
        callback.post(.progress(LoadProgress(received: 1, expected: nil)))
        #expect(executor.count == 0 && events.withLock { $0.count } == 3)
    }

    @Test func aCallbackIsNeverCalledTwiceAtOnceNorAfterTheEnd() async {
        for _ in 0..<100 {
            let book = CallerBook()
            let callback = EventCallback { book.take($0) }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        for _ in 0..<20 { callback.post(.progress(LoadProgress(received: 1, expected: nil))) }
                        if number % 2 == 0 { callback.post(.finished(.failure(.cancelled))) }
                        callback.post(.progress(LoadProgress(received: 2, expected: nil)))
                    }
                }
            }
            #expect(book.isFair)
        }
    }
}

private struct Unexpected: Error {}

/// The numbers of the waiters that were admitted, in order.
private final class Admitted: Sendable {
    let numbers = Guarded<[Int]>([])

    func takeFirst() -> Int? { numbers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
