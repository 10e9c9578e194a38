import HTTPTypes
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// An interrupted transfer is resumed, even by another process (RFC 9110 sections 13.1.5 and 14.2).
@Suite struct ResumeTests {
    private let url = "http://pictures.test/large.bmp"
    private let folder: TemporaryFolder
    private let body: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        // Over 700 KB, so that a partial body is kept on disk.
        body = try Fixture.gradient(500, 360).encoded(as: .bmp)
    }

    /// A new manager on the same folder, which stands for another process.
    private func makeBench() -> TestBench { TestBench(disk: folder.path) }

    private func answer(_ bytes: ArraySlice<UInt8>, fields: HTTPFields) -> FakeAnswer {
        .bytes(Array(bytes), contentType: "image/bmp", headers: fields)
    }

    private func part(from offset: Int, of total: Int, tag: String) -> FakeAnswer {
        let fields: HTTPFields = [.eTag: tag, .contentRange: "bytes \(offset)-\(total - 1)/\(total)"]
        return .status(206, body: Array(body[offset...]), headers: fields)
    }

    /// Waits until at least `count` bytes of a partial body are kept. A claim between the creation of the file and its
    /// locking by the writer would find an empty file and remove it, so this first waits until bytes are counted.
    private func keeps(_ store: PartialStore, _ key: CacheKey, atLeast count: Int64) async -> Bool {
        guard await eventually({ store.usedBytes > .zero }) else { return false }
        return await eventually { (store.claim(key, creates: false)?.length ?? 0) >= count }
    }

    /// Makes a load whose transfer breaks off after `count` bytes.
    private func breakOff(after count: Int, fields: HTTPFields = [.eTag: "\"1\""]) async throws {
        let bench = makeBench()
        bench.transport.answer(url, answer(body[...], fields: fields).inPieces(of: 10_000).failing(after: count))
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest(url))
        }
        #expect(error?.code == .connectionLost || error?.code == .badImageData)
        // The partial body is written after the caller was answered.
        let store = try #require(bench.manager.ownCache.partials)
        let key = ImageRequest(url).originalKey
        if fields[.eTag] != nil { #expect(await keeps(store, key, atLeast: 1)) }
        bench.manager.shutDown()
    }

    @Test(arguments: [100_000, 400_000])
    func theNextProcessGoesOnWhereTheLastOneBrokeOff(count: Int) async throws {
        try await breakOff(after: count)
        let bench = makeBench()
        bench.transport.answerAll { [body] request in
            guard let range = request.headers[.range], request.headers[.ifRange] == "\"1\"",
                let offset = Int(range.dropFirst("bytes=".count).dropLast())
            else { return .status(500) }
            return part(from: offset, of: body.count, tag: "\"1\"").inPieces(of: 30_000)
        }
        var request = ImageRequest(url)
        request.includesData = true
        let response = try await bench.manager.image(for: request)
        #expect(response.data == body && response.source == .network)
        #expect(bench.transport.hits(url) == 1)
        await bench.manager.finishStores()
        // The body is stored as if it had come in one piece, and the partial body is gone.
        #expect(try await bench.manager.diskCache?.readMetadata(request.originalKey)?.status == 200)
        let store = try #require(bench.manager.ownCache.partials)
        #expect(await eventually { store.claim(request.originalKey, creates: false) == nil })
    }

    /// A body that broke off below the limit again and again could once grow beyond it.
    @Test func aBodyIsNotGoneOnWithBeyondTheLimit() async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        bench.transport.answerAll { [body] request in
            guard request.headers[.range] != nil else { return answer(body[...], fields: [.eTag: "\"1\""]) }
            return part(from: 400_000, of: body.count, tag: "\"1\"").inPieces(of: 30_000)
        }
        var request = ImageRequest(url)
        request.http.bodyLimit = ByteCount(body.count - 1000)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func clearingTheDiskForgetsBeginnings() async throws {
        try await breakOff(after: 400_000)
        try await makeBench().manager.cache.clear(.memory)
        let store = try #require(makeBench().manager.ownCache.partials)
        #expect(store.usedBytes.bytes > 0)
        try await makeBench().manager.cache.clear(.disk)
        #expect(store.usedBytes == .zero)
    }

    /// The beginning once stayed on disk when its transfer was running during the removal, and was cancelled later.
    @Test(arguments: [100_000, 400_000], ["remove", "removeHere", "clear"])
    func aRemovalTakesTheBeginningOfARunningTransfer(count: Int, by way: String) async throws {
        let (bench, gate, ledger) = (makeBench(), Gate(), Ledger())
        let held = answer(body[...], fields: [.eTag: "\"1\""]).inPieces(of: 10_000).held(by: gate, after: count)
        bench.transport.answer(url, held)
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        let store = try #require(bench.manager.ownCache.partials)
        // Of a short beginning nothing is stored before the transfer ends.
        #expect(
            await eventually {
                let received = bench.manager.loader.table.withLock {
                    $0.bytesJobs.values.first?.opened?.log.receivedCount ?? 0
                }
                return received >= count && (count < 300_000 || store.usedBytes > .zero)
            })
        switch way {
        case "remove": try await bench.manager.cache.remove(ImageRequest(url))
        case "removeHere": try await bench.manager.ownCache.removeHere(original: ImageRequest(url).originalKey)
        default: try await bench.manager.cache.clear()
        }
        #expect(store.usedBytes == .zero)
        token.cancel()
        gate.open()
        _ = await ledger.finished()
        await bench.manager.finishStores()
        #expect(store.usedBytes == .zero && store.claim(ImageRequest(url).originalKey, creates: false) == nil)
        // What is loaded from now on is kept as usual.
        try await breakOff(after: 400_000)
        #expect(store.usedBytes > .zero)
    }

    /// Interrupted pictures of such requests once left their beginnings in the manager's folder.
    @Test(arguments: ["cache", "originalCache", "memory"])
    func aBeginningIsKeptInTheCacheOfItsOriginal(_ place: String) async throws {
        let bench = makeBench()
        bench.transport.answer(
            url, answer(body[...], fields: [.eTag: "\"1\""]).inPieces(of: 10_000).failing(after: 400_000))
        let disk = DiskCacheConfiguration(directory: folder.path + "/apart")
        let apart = ImageCache(configuration: .init(disk: place == "memory" ? nil : disk))
        var request = ImageRequest(url)
        if place == "originalCache" { request.caching.originalCache = apart } else { request.caching.cache = apart }
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        await bench.manager.finishStores()
        let managers = try #require(bench.manager.ownCache.partials)
        if let store = apart.partials { #expect(await keeps(store, request.originalKey, atLeast: 1)) }
        #expect(managers.usedBytes == .zero)
        try await apart.remove(request)
        #expect((apart.partials?.usedBytes ?? .zero) == .zero)
    }

    @Test func aBodyThatChangedComesWhole() async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        let other = try Fixture.gradient(400, 300).encoded(as: .bmp)
        bench.transport.answer(url, .bytes(other, contentType: "image/bmp", headers: [.eTag: "\"2\""]))
        var request = ImageRequest(url)
        request.includesData = true
        #expect(try await bench.manager.image(for: request).data == other)
        #expect(bench.transport.requests.first?.headers[.range] != nil)
    }

    @Test func aPartThatDoesNotFitIsAskedForWhole() async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        bench.transport.answer(
            url, part(from: 0, of: body.count, tag: "\"1\""), answer(body[...], fields: [.eTag: "\"1\""]))
        var request = ImageRequest(url)
        request.includesData = true
        #expect(try await bench.manager.image(for: request).data == body)
        #expect(bench.transport.requests.map { $0.headers[.range] != nil } == [true, false])
    }

    /// L7: otherwise the URL could not be loaded for as long as the partial body is kept.
    @Test(arguments: [400, 403, 405, 412, 416]) func aRangeThatIsRefusedIsAskedForWhole(status: Int) async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        bench.transport.answerAll { [body] request in
            request.headers[.range] == nil ? answer(body[...], fields: [.eTag: "\"1\""]) : .status(status)
        }
        var request = ImageRequest(url)
        request.includesData = true
        #expect(try await bench.manager.image(for: request).data == body)
        #expect(bench.transport.requests.map { $0.headers[.range] != nil } == [true, false])
    }

    @Test(arguments: [403, 404]) func aRefusalOfTheWholeBodyIsTheError(status: Int) async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        bench.transport.answerAll { _ in .status(status) }
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .badStatus && error?.status == status)
        #expect(bench.transport.requests.count == (status == 404 ? 1 : 2))
        // In either case the next load does not try to resume.
        bench.transport.answerAll { [body] _ in answer(body[...], fields: [.eTag: "\"2\""]) }
        bench.manager.failedURLs.removeAll()
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(bench.transport.requests.last?.headers[.range] == nil)
    }

    /// Kept header fields are also there if the body came in two parts.
    @Test func aResumedBodyHasTheKeptHeaders() async throws {
        let name = try #require(HTTPField.Name("X-Author"))
        let bench = TestBench(disk: folder.path) { $0.keptHeaders = [name] }
        bench.transport.answerAll { [body] request in
            guard let range = request.headers[.range] else {
                return answer(body[...], fields: [.eTag: "\"1\"", name: "anna"]).inPieces(of: 10_000)
                    .failing(after: 400_000)
            }
            return part(from: Int(range.dropFirst("bytes=".count).dropLast()) ?? 0, of: body.count, tag: "\"1\"")
        }
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        let store = try #require(bench.manager.ownCache.partials)
        let key = ImageRequest(url).originalKey
        #expect(await keeps(store, key, atLeast: 1))
        #expect(try await bench.manager.image(for: ImageRequest(url)).head?[name] == "anna")
    }

    @Test func aBodyWithoutAStrongValidatorIsNotResumed() async throws {
        try await breakOff(after: 400_000, fields: [:])
        let bench = makeBench()
        bench.transport.answer(url, answer(body[...], fields: [:]))
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(bench.transport.requests.map { $0.headers[.range] } == [nil])
    }

    @Test(arguments: [true, false])
    func aBeginningIsRemovedWithItsOriginal(isNamedByKey: Bool) async throws {
        try await breakOff(after: 400_000)
        let bench = makeBench()
        let store = try #require(bench.manager.ownCache.partials)
        let request = ImageRequest(url)
        if isNamedByKey {
            try await bench.manager.ownCache.removeHere(original: request.originalKey)
        } else {
            try await bench.manager.cache.remove(request, from: .disk)
        }
        #expect(store.claim(request.originalKey, creates: false) == nil)
        bench.transport.answer(url, answer(body[...], fields: [:]))
        _ = try await bench.manager.image(for: request)
        #expect(bench.transport.requests.map { $0.headers[.range] } == [nil])
    }

    @Test func aCancelledLoadLeavesItsBeginning() async throws {
        let bench = makeBench()
        let gate = Gate()
        bench.transport.answer(
            url, answer(body[...], fields: [.eTag: "\"1\""]).inPieces(of: 50_000).held(by: gate, after: 350_000))
        let ledger = Ledger()
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        let store = try #require(bench.manager.ownCache.partials)
        let key = ImageRequest(url).originalKey
        // While it runs, the transfer holds the claim on the partial body.
        #expect(await eventually { store.usedBytes.bytes > 0 })
        token.cancel()
        _ = await ledger.finished()
        #expect(await keeps(store, key, atLeast: 256 << 10))
        gate.open()
    }
}
