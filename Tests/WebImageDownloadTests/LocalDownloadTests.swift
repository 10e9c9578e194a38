import HTTPTypes
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@testable import WebImageDownload

/// Files, paths and `data:` URLs.
@Suite struct LocalDownloadTests {
    private let rig: Rig
    private let directory: String

    init() throws {
        rig = try Rig(.with { $0.bodyLimit = .kibibytes(1024) })
        directory = try ScratchFolder.make()
    }

    private func write(_ bytes: [UInt8], to name: String) throws -> String {
        let files = PosixFileSystem()
        let path = "\(directory)/\(name)"
        let file = try files.open(path, .createNew)
        defer { files.close(file) }
        try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
        return path
    }

    private func download(_ text: String) -> Download { rig.downloader.download(Self.request(text)) }

    private static func request(_ text: String) -> DownloadRequest {
        text.hasPrefix("/") ? DownloadRequest(path: text) : DownloadRequest(url: text)
    }

    private func fetch(_ text: String) async -> (body: [UInt8], end: String) { await rig.fetch(download(text)) }

    private func cleanUp() {
        let files = PosixFileSystem()
        for name in (try? files.names(in: directory)) ?? [] { try? files.remove("\(directory)/\(name)") }
        try? files.removeDirectory(directory)
    }

    /// Text from strangers must not be read as a path to a server's files.
    @Test func aTextWithoutASchemeIsNoPath() async throws {
        defer { cleanUp() }
        let path = try write([1, 2, 3], to: "secret")
        for text in [path, "." + path, " " + path, "example.com/a.jpg", "//example.com/a.jpg", ""] {
            let download = rig.downloader.download(DownloadRequest(url: text))
            #expect(await rig.fetch(download) == ([], "invalidURL"), "\(text)")
        }
    }

    @Test func aFileIsReadByPathAndByURL() async throws {
        defer { cleanUp() }
        let body = pattern(700_000)
        let path = try write(body, to: "a b%#?.png")
        #expect(await fetch(path) == (body, "complete"))
        let encoded = path.replacing("%", with: "%25").replacing("#", with: "%23").replacing("?", with: "%3F")
        for prefix in ["file://", "file://localhost", "file:", "FILE://"] {
            let download = download(prefix + encoded)
            #expect(await rig.fetch(download) == (body, "complete"))
            #expect(download.log.head == nil && download.log.expectedLength == 700_000)
        }
        #expect(await fetch(try write([], to: "empty")) == ([], "complete"))
    }

    @Test func missingAndIrregularFilesHaveTheirOwnErrors() async throws {
        defer { cleanUp() }
        #expect(await fetch("\(directory)/none.png").end == "fileNotFound")
        #expect(await fetch("file://\(directory)/none.png").end == "fileNotFound")
        #expect(await fetch(directory).end == "notAFile")
        #expect(await fetch("/dev/zero").end == "notAFile")
        let pipe = "\(directory)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(await fetch(pipe).end == "notAFile")
        #expect(await fetch("file://elsewhere/a").end == "invalidURL")
        #expect(await fetch("file:relative").end == "invalidURL")
        #expect(await fetch("file:///a%00b").end == "invalidURL")
    }

    @Test func aFileThatMayNotBeReadIsNamed() async throws {
        defer { cleanUp() }
        let files = FaultyFileSystem()
        files.failAll(.open, with: .error(EACCES))
        let downloader = ImageDownloader(
            configuration: DownloadConfiguration(), transport: FakeTransport(), clock: ManualClock(),
            executor: ThreadPool(name: "test", width: 1), files: files)
        let path = try write([1], to: "secret")
        let forbidden = downloader.download(DownloadRequest(path: path))
        #expect(await rig.fetch(forbidden).end == "permissionDenied")
        files.heal()
        files.failAll(.read, with: .error(EIO))
        let broken = downloader.download(DownloadRequest(path: path))
        #expect(await rig.fetch(broken).end == "cannotRead")
        files.heal()
        files.failAll(.open, with: .error(EMFILE))
        #expect(await rig.fetch(downloader.download(DownloadRequest(path: path))).end == "cannotRead")
    }

    @Test func aFileOverTheLimitIsRefusedUnread() async throws {
        defer { cleanUp() }
        let path = try write(pattern((1 << 20) + 1), to: "large")
        #expect(await fetch(path) == ([], "bodyTooLarge"))
    }

    @Test func dataURLsComeWithTheirType() async {
        let download = download("data:image/png;base64,aGVsbG8=")
        #expect(await rig.fetch(download) == (Array("hello".utf8), "complete"))
        #expect(download.log.head?[.contentType] == "image/png")
        #expect(await fetch("data:image/png;base64,*").end == "invalidURL")
        #expect(await fetch("data:," + String(repeating: "a", count: (1 << 20) + 1)).end == "bodyTooLarge")
    }

    private func frugal(
        _ files: any FileSystem, memory: ByteCount = .kibibytes(64), forAll: ByteCount = .kibibytes(256)
    ) -> ImageDownloader {
        ImageDownloader(
            configuration: .with { ($0.memoryPerTransfer, $0.memoryForAll) = (memory, forAll) },
            transport: FakeTransport(), clock: ManualClock(), executor: ThreadPool(name: "test", width: 1), files: files
        )
    }

    /// A file that is longer than its memory limit is read again from its own place, instead of being copied to a
    /// temporary file.
    @Test func aFileMayBeLongerThanTheMemoryForIt() async throws {
        defer { cleanUp() }
        let body = pattern(900_000)
        let path = try write(body, to: "long")
        let files = FaultyFileSystem()
        let downloader = frugal(files)
        // The last downloads find the shared memory used up.
        let downloads = (0..<6).map { _ in downloader.download(DownloadRequest(path: path)) }
        for download in downloads {
            #expect(try await download.log.allBytes().array == body)
            for (start, length) in [(0, 100_000), (60_000, 10), (65_536, 300_000), (899_999, 5)] {
                guard case .chunk(let chunk) = download.log.read(at: start, together: length) else {
                    Issue.record("there is nothing at \(start)")
                    continue
                }
                #expect(chunk.count >= min(length, body.count - start))
                #expect(chunk.array == Array(body[chunk.range]) && chunk.range.lowerBound == start)
            }
        }
        #expect(files.count(of: .openTemporary) == 0 && files.count(of: .write) == 0)
        // A decoder in another process may be given the file itself, but not a file of the faulty file system, which is
        // not a real one.
        #expect(downloads.allSatisfy { $0.log.localFile == nil })
        let other = frugal(PosixFileSystem())
        defer { withExtendedLifetime(other) {} }
        let real = other.download(DownloadRequest(path: path))
        #expect(await real.log.ended().name == "complete")
        let file = try #require(real.log.localFile)
        let status = try PosixFileSystem().status(of: file.descriptor)
        #expect(file.byteCount == body.count && status.size == Int64(body.count))
        // A body that is in memory as a whole is not read from the file again.
        let short = other.download(DownloadRequest(path: try write(pattern(5000), to: "short")))
        #expect(await short.log.ended().name == "complete")
        #expect(short.log.localFile == nil)
    }

    @Test func aFileThatIsCutWhileItIsReadIsATruncatedBody() async throws {
        defer { cleanUp() }
        let body = pattern(900_000)
        let path = try write(body, to: "cut")
        let downloader = frugal(PosixFileSystem())
        let download = downloader.download(DownloadRequest(path: path))
        #expect(await download.log.ended().name == "complete")
        #expect(truncate(path, 400_000) == 0)
        var found: [UInt8] = []
        while case .chunk(let chunk) = download.log.read(at: found.count) { found += chunk.array }
        #expect(found == Array(body[..<400_000]))
        #expect(throws: WebImageError.self) { try download.log.collect() }
        guard case .end(.failed(let error)) = download.log.read(at: found.count) else {
            Issue.record("the end is not told")
            return
        }
        #expect(error.code == .truncatedBody && error.location == path)
        downloader.shutDown()
    }

    /// A small file that is in the page cache is read at once, without waking another thread.
    @Test func aSmallFileInThePageCacheIsReadOnTheCallersThread() async throws {
        defer { cleanUp() }
        let files = PosixFileSystem()
        let executor = HeldExecutor()
        let downloader = ImageDownloader(
            configuration: .with { $0.bodyLimit = .kibibytes(20) }, transport: FakeTransport(), clock: ManualClock(),
            executor: executor, files: files)
        let path = try write(pattern(20 << 10), to: "small")
        // Not every file system supports reads that do not block.
        var isInMemory = false
        if let file = files.openAtOnce(FilePath(path)) {
            var byte: UInt8 = 0
            isInMemory = withUnsafeMutableBytes(of: &byte) { files.readAtOnce(file, into: $0, at: 0) } == 1
            files.close(file)
        }
        let download = downloader.download(DownloadRequest(path: path))
        #expect((download.log.end?.name == "complete") == isInMemory && (executor.waitingCount == 0) == isInMemory)
        executor.runAll()
        #expect(download.log.end?.name == "complete" && download.log.expectedLength == 20 << 10)
        #expect(try download.log.collect() == pattern(20 << 10))
        #expect(downloader.counters.running == 0)

        // All other paths are left to the executor's threads, which may block and which report errors.
        #expect(symlink(path, "\(directory)/link") == 0)
        let others = [
            "\(directory)/link", "\(directory)/none", directory, try write([], to: "empty"),
            try write(pattern(20 << 10 + 1), to: "over"), "/dev/zero",
        ]
        let downloads = others.map { downloader.download(DownloadRequest(path: $0)) }
        #expect(downloads.allSatisfy { $0.log.end == nil } && executor.waitingCount == others.count)
        executor.runAll()
        let ends = ["complete", "fileNotFound", "notAFile", "complete", "bodyTooLarge", "notAFile"]
        #expect(downloads.map { $0.log.end?.name } == ends)
    }

    @Test func aReadThatIsLeftStops() async throws {
        defer { cleanUp() }
        let files = FaultyFileSystem()
        let pool = ThreadPool(name: "test", width: 1)
        let downloader = ImageDownloader(
            configuration: DownloadConfiguration(), transport: FakeTransport(), clock: ManualClock(), executor: pool,
            files: files)
        let body = pattern(700_000)
        let second = files.delay(.read, at: 1)
        let download = downloader.download(DownloadRequest(path: try write(body, to: "a")))
        await second.made()
        let first = download.log.receivedCount
        #expect(first > 0 && first < body.count / 2 && download.log.end == nil)
        download.cancel()
        #expect(download.log.end?.name == "cancelled" && downloader.counters.running == 0)
        second.release()
        // The pool's only thread comes to this when it has left the file.
        let left = Gate()
        pool.run(.normal) { left.open() }
        await left.opened()
        #expect(files.count(of: .read) == 2, "the rest of the file was read")
        #expect(download.log.receivedCount == first)
        #expect(download.log.end?.name == "cancelled" && downloader.counters.running == 0)
    }

    @Test func aReadThatIsLeftBeforeItBeginsReadsNothing() async throws {
        defer { cleanUp() }
        let executor = HeldExecutor()
        let files = FaultyFileSystem()
        let downloader = ImageDownloader(
            configuration: DownloadConfiguration(), transport: FakeTransport(), clock: ManualClock(),
            executor: executor,
            files: files)
        let download = downloader.download(DownloadRequest(path: try write(pattern(700_000), to: "a")))
        download.cancel()
        #expect(download.log.end?.name == "cancelled")
        executor.runAll()
        #expect(files.count(of: .read) == 0 && download.log.receivedCount == 0)
        #expect(downloader.counters.running == 0)
    }
}
