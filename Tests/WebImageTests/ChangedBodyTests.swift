import HTTPTypes
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A transfer breaks off, and the origin has a new version of the picture before it resumes: every caller and the
/// caches get the new version, whole.
@Suite struct ChangedBodyTests {
    private let url = "http://pictures.test/changing"
    private let folder: TemporaryFolder
    private let old: [UInt8]
    private let new: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        // Over 700 KB, so that a partial body is kept on disk.
        old = try Fixture.gradient(500, 360).encoded(as: .bmp)
        new = try Fixture.jpeg(64, 48)
    }

    private func makeBench(brokenAfter count: Int = 400_000) -> TestBench {
        let bench = TestBench(disk: folder.path) {
            $0.download.retry = RetryPolicy(retries: 2, firstDelay: .milliseconds(1))
        }
        let first = FakeAnswer.bytes(old, contentType: "image/bmp", headers: [.eTag: "\"1\""])
        bench.transport.answer(
            url, first.inPieces(of: 10_000).failing(after: count),
            .bytes(new, contentType: "image/jpeg", headers: [.eTag: "\"2\""]))
        return bench
    }

    @Test func everySizeIsMadeOfTheNewBody() async throws {
        let bench = makeBench()
        var requests = [ImageRequest(url), ImageRequest(url), ImageRequest(url)]
        requests[0].includesData = true
        requests[1].size = TargetSize(width: 32)
        requests[2].size = TargetSize(width: 8)
        let ledgers = requests.map { request in
            let ledger = Ledger()
            bench.manager.load(request) { ledger.take($0) }
            return ledger
        }
        for (ledger, width) in zip(ledgers, [64, 32, 8]) {
            let response = try await ledger.finished().get()
            #expect(response.image.size.width == width && response.image.info.format == .jpeg)
            #expect(response.byteCount == ByteCount(new.count) && response.head?[.eTag] == "\"2\"")
        }
        #expect(try ledgers[0].result?.get().data == new)
        #expect(bench.transport.hits(url) == 2)
        await bench.manager.finishStores()
        let entry = try await bench.manager.diskCache?.read(requests[0].originalKey)
        #expect(entry?.body == new && entry?.metadata.storedResponse["etag"] == "\"2\"")
        // The partial body of the old version is gone.
        let partials = try #require(bench.manager.ownCache.partials)
        #expect(await eventually { partials.claim(requests[0].originalKey, creates: false) == nil })
    }

    @Test func bytesAndDetailsAreThoseOfTheNewBody() async throws {
        #expect(try await makeBench().manager.data(for: ImageRequest(url)) == new)
        // Here the transfer breaks off before the header of the old picture is complete.
        let details = try await makeBench(brokenAfter: 10).manager.details(for: ImageRequest(url))
        #expect(details.header.format == .jpeg && details.header.size == PixelSize(width: 64, height: 48))
        #expect(details.byteCount == ByteCount(new.count))
    }

    /// A partial body that the last process left, of a version that the origin no longer has.
    @Test func aPartialBodyOfTheOldVersionIsDiscarded() async throws {
        let before = TestBench(disk: folder.path)
        before.transport.answer(
            url,
            .bytes(old, contentType: "image/bmp", headers: [.eTag: "\"1\""]).inPieces(of: 10_000)
                .failing(after: 400_000))
        await #expect(throws: WebImageError.self) { try await before.manager.image(for: ImageRequest(url)) }
        let key = ImageRequest(url).originalKey
        let partials = try #require(before.manager.ownCache.partials)
        #expect(await eventually { (partials.claim(key, creates: false)?.length ?? 0) > 0 })
        before.manager.shutDown()

        let bench = TestBench(disk: folder.path) {
            $0.download.retry = RetryPolicy(retries: 2, firstDelay: .milliseconds(1))
        }
        bench.transport.answerAll { [old, new] request in
            guard let range = request.headers[.range], let from = Int(range.dropFirst(6).dropLast()) else {
                return .status(500)
            }
            if bench.transport.hits(self.url) > 1 {
                return .bytes(new, contentType: "image/jpeg", headers: [.eTag: "\"2\""])
            }
            let fields: HTTPFields = [.eTag: "\"1\"", .contentRange: "bytes \(from)-\(old.count - 1)/\(old.count)"]
            return .status(206, body: Array(old[from...]), headers: fields).inPieces(of: 10_000).failing(after: 50_000)
        }
        var request = ImageRequest(url)
        request.includesData = true
        let response = try await bench.manager.image(for: request)
        #expect(response.data == new && response.image.size == PixelSize(width: 64, height: 48))
        #expect(response.head?[.eTag] == "\"2\"")
        await bench.manager.finishStores()
        #expect(try await bench.manager.diskCache?.read(key)?.body == new)
        let left = try #require(bench.manager.ownCache.partials)
        #expect(await eventually { left.claim(key, creates: false) == nil })
    }
}
