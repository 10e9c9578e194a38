import Testing
import WebImageCache
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

struct DiskSourceTests {
    private let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)

    private func makeCache(_ scratch: Scratch, _ change: (inout DiskCacheConfiguration) -> Void) -> DiskCache {
        var configuration = DiskCacheConfiguration(directory: scratch.path + "/own")
        change(&configuration)
        return DiskCache(configuration, executor: HeldExecutor(), clock: ManualClock())
    }

    @Test func aReadOnlySourceIsReadAndNeverWritten() throws {
        let (scratch, bench) = (try Scratch(), try Bench())
        let key = CacheKey("bundled")
        try bench.cache.store(key, [1, 2], metadata(5))
        let before = try bench.allocatedBytes()
        let cache = makeCache(scratch) { $0.readOnlySources = [.cache(directory: bench.directory)] }
        #expect(try cache.read(key)?.body == [1, 2])
        #expect(try cache.readMetadata(key)?.status == 5)
        #expect(try cache.contains(key) && cache.path(for: key) == nil)
        #expect(try !cache.remove(key))
        #expect(try cache.read(key)?.path == bench.cache.defaultPath(for: key))
        try cache.store(key, [3], metadata(6))
        #expect(try cache.read(key)?.body == [3])
        #expect(try bench.allocatedBytes() == before)
        try writeFile(bench.cache.defaultPath(for: key), [0])
        try cache.remove(key)
        #expect(try cache.read(key) == nil)
        #expect(try readFile(bench.cache.defaultPath(for: key)) == [0])
        #expect(cache.statistics.hits == 4 && cache.statistics.misses == 1)
    }

    @Test func anExpiredEntryOfASourceIsReportedMissing() throws {
        let (scratch, bench) = (try Scratch(), try Bench())
        let key = CacheKey("bundled")
        var short = metadata(5)
        short.expiresAt = bench.clock.wallTime
        try bench.cache.store(key, [1, 2], short)
        let cache = makeCache(scratch) { $0.readOnlySources = [.cache(directory: bench.directory)] }
        #expect(try !cache.contains(key))
    }

    @Test func filesAreFoundByAClosureInOrder() throws {
        let scratch = try Scratch()
        try writeFile(scratch.path + "/a.png", png)
        let folder = scratch.path
        let cache = makeCache(scratch) { configuration in
            configuration.readOnlySources = [
                .files { key in key.text == "missing" ? nil : "\(folder)/absent" },
                .files { key in key.text == "a" ? "\(folder)/a.png" : nil },
            ]
        }
        let entry = try #require(try cache.read(CacheKey("a")))
        #expect(entry.body == png && entry.metadata.format == .png && entry.path == folder + "/a.png")
        #expect(try cache.read(CacheKey("missing")) == nil)
        #expect(try cache.read(CacheKey("b")) == nil)
    }

    /// The MD5 comes from `md5sum`; the extensions are those of SDWebImage's own tests (34 to 37 and 49a).
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("http://www.example.com/image.jpg", ".jpg"),
        ("http://sd.web.image/", ""),
        ("http://example.com/path.to/image", ""),
        ("http://example.com", ""),
        ("https://example.com/a.b.png?w=1.gif#x.bmp", ".png"),
        ("https://imgd.example/img/%00image.jpg%00", ".jpg%00"),
        ("a b/c.webp", ".webp"),
        (
            "http://www.example.com/image." + String(repeating: "x", count: 222),
            "." + String(repeating: "x", count: 222)
        ),
        ("http://www.example.com/image." + String(repeating: "x", count: 223), ""),
    ])
    func filesAreNamedAsSDWebImageNamesThem(key: String, end: String) {
        let name = SDWebImageNaming.fileName(for: key)
        #expect(name.hasSuffix(end))
        #expect(end.isEmpty || end.count == 32 ? name.count == 32 : name.count == 32 + end.count)
    }

    @Test func aFolderOfSDWebImagesIsReadAndTakenOver() throws {
        let scratch = try Scratch()
        let keys = [
            "https://example.org/a.png", "https://example.org/b", "https://example.org/c.png",
            "https://example.org/d.png",
        ].map {
            CacheKey($0)
        }
        try writeFile(scratch.path + "/" + SDWebImageNaming.fileName(for: keys[0].text), png)
        // A file from the time when names had no extensions.
        let old = scratch.path + "/" + String(SDWebImageNaming.fileName(for: keys[1].text).prefix(32))
        try writeFile(old, png + [1])
        try writeFile(scratch.path + "/" + SDWebImageNaming.fileName(for: keys[3].text), [1, 2, 3])
        let reading = makeCache(scratch) { $0.readOnlySources = [.sdWebImage(directory: scratch.path)] }
        #expect(try reading.read(keys[0])?.body == png)
        #expect(try reading.read(keys[1])?.body == png + [1])
        #expect(try reading.read(keys[2]) == nil)
        let taking = makeCache(scratch) { _ in }
        #expect(try taking.importSDWebImage(scratch.path, keys: keys) == 2)
        #expect(try taking.importSDWebImage(scratch.path, keys: keys) == 0)
        #expect(try taking.read(keys[0])?.metadata.format == .png)
        #expect(try taking.read(keys[3]) == nil, "no picture")
        #expect(taking.usage.count == 2)
    }

    private struct Caption: DiskExtendedData, Equatable {
        static let name = "org.example.caption"
        static let version: UInt32 = 2
        var text: String
        var encoded: [UInt8] { Array(text.utf8) }

        init(_ text: String) { self.text = text }
        init?(_ bytes: [UInt8], version: UInt32) {
            guard version <= 2, let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self.text = text
        }
    }

    private struct Rating: DiskExtendedData {
        static let name = "org.example.rating"
        static let version: UInt32 = 1
        var encoded: [UInt8] { [5] }

        init() {}
        init?(_ bytes: [UInt8], version: UInt32) { if bytes != [5] { return nil } }
    }

    @Test func extendedDataOfCustomTypesIsKeptByType() throws {
        let bench = try Bench()
        var metadata = DiskMetadata()
        metadata.setExtendedData(Caption("A lake"))
        metadata.setExtendedData(Rating())
        metadata.setExtendedData(Caption("A lake at dawn"))
        metadata.extendedData = [9]
        try bench.cache.store(CacheKey("k"), [1], metadata)
        var found = try #require(try bench.cache.read(CacheKey("k"))?.metadata)
        #expect(found.extendedData(Caption.self) == Caption("A lake at dawn"))
        #expect(found.extendedData(Rating.self) != nil && found.extendedData == [9])
        found.removeExtendedData(Caption.self)
        try bench.cache.updateMetadata(CacheKey("k"), found)
        let left = try #require(try bench.cache.readMetadata(CacheKey("k")))
        #expect(left.extendedData(Caption.self) == nil && left.extendedData(Rating.self) != nil)
    }

    @Test func keysCanBeKeptAsHashesOnly() throws {
        let scratch = try Scratch()
        let cache = makeCache(scratch) { $0.keepsKeys = false }
        let key = CacheKey("https://example.org/secret")
        var metadata = DiskMetadata()
        metadata.url = key.text
        metadata.status = 200
        // These fields are those in which the loader records the answering URL and the cookies that were sent to each
        // URL.
        metadata.headers = [
            .init(name: ":place", value: "https://cdn.test/secret"), .init(name: ":cookies ", value: "0123"),
            .init(name: ":cookies https://cdn.test/secret", value: ""),
        ]
        try cache.store(key, [1], metadata)
        let path = try #require(try cache.path(for: key))
        #expect(!String(decoding: try readFile(path), as: UTF8.self).contains("secret"))
        let found = try cache.read(key)?.metadata
        #expect(found?.status == 200)
        // The last entry can serve no request: without the URL it is unknown which cookies would be sent now.
        #expect(found?.headers.map(\.name) == [":cookies ", ":cookies https://no.invalid/"])
        #expect(found?.headers.map(\.value) == ["0123", "?"])
        #expect(try cache.updateMetadata(key, metadata))
        #expect(!String(decoding: try readFile(path), as: UTF8.self).contains("secret"))
        #expect(try cache.entries().map(\.key) == [nil])
        #expect(try cache.verify().bad == 0)
        // A file of another key is still recognized as wrong.
        try cache.store(CacheKey("other"), [2], metadata)
        try writeFile(path, try readFile(cache.defaultPath(for: CacheKey("other"))))
        #expect(try cache.read(key) == nil)
        #expect(cache.statistics.corruptEntries == 1)
    }

    @Test func entriesAreRemovedByAPredicate() throws {
        let bench = try Bench()
        for name in ["a/1", "a/2", "b/1"] { try bench.cache.store(CacheKey(name), [1], DiskMetadata()) }
        #expect(try bench.cache.remove { $0.key?.text.hasPrefix("a/") ?? false } == 2)
        #expect(try bench.cache.entries().compactMap(\.key?.text) == ["b/1"])
        #expect(bench.cache.usage.count == 1)
    }

    /// An entry that had replaced the one that the predicate saw once was removed in its place.
    @Test func anEntryThatIsStoredAgainMeanwhileIsNotRemoved() throws {
        let bench = try Bench()
        for key in ["a", "b"] { try bench.cache.store(CacheKey(key), [1], metadata(1)) }
        let count = try bench.cache.remove { entry in
            if entry.key?.text == "a" { _ = try? bench.cache.store(CacheKey("a"), [2, 3], metadata(1)) }
            return true
        }
        #expect(count == 1)
        #expect(try bench.cache.entries().map(\.bodyLength.bytes) == [2])
        #expect(bench.cache.usage.count == 1)
    }

    /// The first entry that could not be removed once kept all later ones.
    @Test func anEntryThatCannotBeRemovedKeepsNoOther() throws {
        let bench = try Bench()
        for key in ["a", "b", "c"] { try bench.cache.store(CacheKey(key), [1], metadata(1)) }
        bench.files.fail(.remove, at: 0, with: .error(EROFS))
        let error = #expect(throws: WebImageError.self) { try bench.cache.remove { _ in true } }
        #expect(error?.code == .readOnly)
        #expect(try bench.cache.entries().count == 1)
    }
}
