import Testing
import WebImageCache
import WebImageCore
import WebImageSystem

/// The file format of entries must stay stable, so these files are built by hand.
struct DiskFormatTests {
    /// The SHA-256 of "https://example.org/a.png", from `sha256sum`.
    private let name = "077c887d094368c955d80cb3562e2e0284d1355693196dfdd87e42854ac81349"
    private let key = CacheKey("https://example.org/a.png")

    private func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private func field(_ tag: UInt16, _ content: [UInt8]) -> [UInt8] {
        little(tag) + little(UInt32(content.count)) + content
    }

    private func field(_ tag: UInt16, _ name: String, _ value: String) -> [UInt8] {
        field(tag, little(UInt32(name.utf8.count)) + Array(name.utf8) + Array(value.utf8))
    }

    private var fullMetadata: DiskMetadata {
        var metadata = DiskMetadata()
        metadata.storedAt = 1_700_000_000
        metadata.expiresAt = 1_900_000_000
        metadata.url = "https://example.org/a.png"
        metadata.format = .png
        metadata.status = 200
        metadata.headers = [.init(name: "ETag", value: "\"x\""), .init(name: "Date", value: "now")]
        metadata.varyRequestHeaders = [.init(name: "accept", value: "image/*")]
        metadata.requestTime = 1_699_999_998
        metadata.responseTime = 1_699_999_999
        metadata.extendedData = [1, 2, 3]
        return metadata
    }

    private var fullTrailer: [UInt8] {
        little(UInt16(1)) + little(UInt16(0))
            + field(1, Array("https://example.org/a.png".utf8))
            + field(2, little(Int64(1_700_000_000)))
            + field(3, little(Int64(1_900_000_000)))
            + field(4, Array("https://example.org/a.png".utf8))
            + field(5, Array("png".utf8))
            + field(6, little(Int64(200)))
            + field(7, "ETag", "\"x\"")
            + field(7, "Date", "now")
            + field(8, "accept", "image/*")
            + field(9, little(Int64(1_699_999_998)))
            + field(10, little(Int64(1_699_999_999)))
            + field(11, [1, 2, 3])
    }

    /// A footer with the given lengths and XXH3-64 sums, which come from `xxhsum -H3`.
    private func footer(_ lengths: (body: Int, trailerOffset: Int, trailer: Int), _ sums: (UInt64, UInt64, UInt64))
        -> [UInt8]
    {
        Array("WIMGDISK".utf8) + little(UInt16(1)) + little(UInt16(64)) + little(UInt32(0))
            + little(Int64(lengths.body)) + little(sums.0)
            + little(Int64(lengths.trailerOffset)) + little(Int64(lengths.trailer)) + little(sums.1)
            + little(sums.2)
    }

    @Test func anEntryIsWrittenAsTheContractSays() throws {
        let bench = try Bench()
        try bench.cache.store(key, [Array("hello ".utf8), Array("world".utf8)], fullMetadata)
        let path = "\(bench.versionDirectory)/\(name.prefix(2))/\(name)"
        #expect(try bench.cache.path(for: key) == path)
        let trailer = fullTrailer
        let expected =
            Array("hello world".utf8) + trailer
            + footer((11, 11, trailer.count), (0xD447_B1EA_40E6_988B, 0xA73A_9A64_70DA_7243, 0xAC1D_2A74_0FEC_0735))
        #expect(try readFile(path) == expected)
    }

    @Test func anEntryBuiltByHandIsRead() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("another"), [1], DiskMetadata())
        try PosixFileSystem().makeDirectory("\(bench.versionDirectory)/\(name.prefix(2))")
        let trailer = fullTrailer
        try writeFile(
            "\(bench.versionDirectory)/\(name.prefix(2))/\(name)",
            Array("hello world".utf8) + trailer
                + footer((11, 11, trailer.count), (0xD447_B1EA_40E6_988B, 0xA73A_9A64_70DA_7243, 0xAC1D_2A74_0FEC_0735))
        )
        let entry = try #require(try bench.cache.read(key))
        #expect(entry.body == Array("hello world".utf8))
        #expect(entry.metadata == fullMetadata)
        #expect(entry.metadata.value(of: "etag") == "\"x\"")
        #expect(try bench.cache.readMetadata(key) == fullMetadata)
    }

    @Test func aFieldOfALaterVersionIsKept() throws {
        let bench = try Bench()
        try bench.cache.store(key, [7], DiskMetadata())
        try PosixFileSystem().makeDirectory("\(bench.versionDirectory)/\(name.prefix(2))")
        let path = "\(bench.versionDirectory)/\(name.prefix(2))/\(name)"
        let trailer = little(UInt16(1)) + little(UInt16(0)) + field(1, Array(key.text.utf8)) + field(999, [9, 8, 7])
        try writeFile(
            path,
            [7] + trailer
                + footer((1, 1, trailer.count), (0x4C5C_CA45_D0F4_811F, 0x2955_A93B_2167_E280, 0xFD85_B192_2D54_DA75)))
        var metadata = try #require(try bench.cache.readMetadata(key))
        metadata.status = 304
        #expect(try bench.cache.updateMetadata(key, metadata))
        let file = try readFile(path)
        let changed = Array(file[(1 + trailer.count + 64)..<(file.count - 64)])
        #expect(
            changed == little(UInt16(1)) + little(UInt16(0)) + field(1, Array(key.text.utf8))
                + field(6, little(Int64(304))) + field(999, [9, 8, 7]))
        #expect(try bench.cache.read(key)?.body == [7])
    }

    @Test func aMetadataChangeLeavesTheBodyWhereItIs() throws {
        let bench = try Bench()
        try bench.cache.store(key, Array("hello world".utf8), metadata(200))
        let path = try #require(try bench.cache.path(for: key))
        let before = try readFile(path)
        #expect(try bench.cache.updateMetadata(key, metadata(304)))
        #expect(Array(try readFile(path).prefix(before.count)) == before)
        let entry = try #require(try bench.cache.read(key))
        #expect(entry.metadata.status == 304 && entry.body == Array("hello world".utf8))
    }

    @Test func aFileFullOfOldMetadataIsWrittenAnew() throws {
        let bench = try Bench()
        try bench.cache.store(key, Array("hello world".utf8), metadata(0))
        let path = try #require(try bench.cache.path(for: key))
        for number in 1...1000 { #expect(try bench.cache.updateMetadata(key, metadata(number))) }
        #expect(try PosixFileSystem().status(at: path).size < 80 << 10)
        #expect(try bench.cache.read(key)?.metadata.status == 1000)
        let allocated = try bench.allocatedBytes()
        #expect(Int64(bench.cache.usage.bytes.bytes) == allocated)
    }

    @Test func anEmptyBodyAndAnyKeyTextAreFine() throws {
        let bench = try Bench()
        let texts = ["", "\u{0}", "päth/../☃", "https://h/%00", String(repeating: "x", count: 100_000)]
        for text in texts {
            try bench.cache.store(CacheKey(text), [UInt8](), DiskMetadata())
            #expect(try bench.cache.read(CacheKey(text))?.body == [])
            #expect(try bench.cache.readMetadata(CacheKey(text)) != nil)
        }
        #expect(Set(try bench.cache.entries().compactMap(\.key?.text)) == Set(texts))
    }

    @Test func directoriesAndFilesAreForTheirOwnerAlone() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], DiskMetadata())
        let path = try #require(try bench.cache.path(for: key))
        #expect(try mode(path) == 0o600)
        #expect(try mode(bench.directory) == 0o700)
        #expect(try mode(bench.versionDirectory) == 0o700)
        #expect(try mode(bench.versionDirectory + "/\(name.prefix(2))") == 0o700)
    }

    @Test func theDirectoryIsTaggedAsACache() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], DiskMetadata())
        let tag = String(decoding: try readFile(bench.directory + "/CACHEDIR.TAG"), as: UTF8.self)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test func theDefaultDirectoryFollowsTheXDGSpecification() {
        func directory(_ environment: [String: String]) -> String? {
            DiskCacheConfiguration.defaultDirectory { environment[$0] }
        }
        #expect(directory(["XDG_CACHE_HOME": "/var/c", "HOME": "/home/u"]) == "/var/c/webimage")
        #expect(directory(["XDG_CACHE_HOME": "c", "HOME": "/home/u"]) == "/home/u/.cache/webimage")
        #expect(directory(["XDG_CACHE_HOME": "", "HOME": "/home/u/"]) == "/home/u/.cache/webimage")
        #expect(directory(["XDG_CACHE_HOME": "/"]) == "/webimage")
        #expect(directory(["HOME": "u"]) == nil)
        #expect(directory([:]) == nil)
    }
}
