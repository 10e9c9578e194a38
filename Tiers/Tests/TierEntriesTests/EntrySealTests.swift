import Testing
import TierEntries
import WebImage

@Suite struct EntrySealTests {
    private let seal: EntrySeal
    private let key = CacheKey("http://pictures.test/a.png")
    private let entry: TierEntry

    init() throws {
        seal = try EntrySeal(secret: Array("sixteen bytes or more".utf8))
        var metadata = DiskMetadata()
        metadata.url = "http://pictures.test/a.png"
        metadata.status = 200
        metadata.storedAt = 1_000
        metadata.headers = [.init(name: "etag", value: "\"1\""), .init(name: "cache-control", value: "max-age=5")]
        metadata.extendedData = [1, 2, 3]
        entry = TierEntry(body: Array(0...255), metadata: metadata)
    }

    @Test func anEntryComesBackAsItWas() throws {
        let head = seal.head(of: entry, for: key)
        #expect(seal.entry(head: head, body: entry.body, for: key) == entry)
        #expect(seal.metadata(of: head, for: key) == entry.metadata)
        let empty = TierEntry(body: [], metadata: DiskMetadata())
        #expect(seal.entry(head: seal.head(of: empty, for: key), body: [], for: key) == empty)
    }

    @Test func anyChangedBitIsDetected() throws {
        let head = seal.head(of: entry, for: key)
        for position in 0..<head.count * 8 {
            var changed = head
            changed[position / 8] ^= 1 << (position % 8)
            #expect(seal.metadata(of: changed, for: key) == nil, "bit \(position)")
        }
        for position in 0..<entry.body.count * 8 {
            var changed = entry.body
            changed[position / 8] ^= 1 << (position % 8)
            #expect(seal.entry(head: head, body: changed, for: key) == nil, "bit \(position)")
        }
        for length in 0..<head.count {
            #expect(seal.metadata(of: Array(head[..<length]), for: key) == nil, "length \(length)")
        }
        #expect(seal.entry(head: head, body: entry.body + [0], for: key) == nil)
        #expect(seal.entry(head: head, body: Array(entry.body.dropLast()), for: key) == nil)
    }

    @Test func anEntryIsGoodForItsKeyAndItsSecretOnly() throws {
        let head = seal.head(of: entry, for: key)
        let other = try EntrySeal(secret: Array("sixteen bytes or mora".utf8))
        #expect(seal.entry(head: head, body: entry.body, for: CacheKey("http://pictures.test/b.png")) == nil)
        #expect(other.entry(head: head, body: entry.body, for: key) == nil)
        #expect(other.name(of: key) != seal.name(of: key))
        #expect(seal.name(of: key) == (try EntrySeal(secret: Array("sixteen bytes or more".utf8))).name(of: key))
        #expect(!seal.name(of: key).contains("pictures"))
    }

    @Test func metadataCanBeReplaced() throws {
        let head = seal.head(of: entry, for: key)
        var metadata = entry.metadata
        metadata.expiresAt = 2_000
        let renewed = try #require(seal.head(head, with: metadata, for: key))
        #expect(
            seal.entry(head: renewed, body: entry.body, for: key) == TierEntry(body: entry.body, metadata: metadata))
        #expect(seal.head(Array(head.dropLast()), with: metadata, for: key) == nil)
    }

    @Test func aCodeIsValidOnlyForItsMessage() throws {
        let code = seal.code(of: "removed")
        #expect(seal.accepts(code, of: "removed") && !seal.accepts(code, of: "removes"))
        #expect(!seal.accepts([], of: "removed"))
    }

    @Test func aShortSecretIsRefused() {
        #expect(throws: TierSetupError.self) { try EntrySeal(secret: [UInt8](repeating: 1, count: 15)) }
        #expect(throws: Never.self) { try EntrySeal(secret: [UInt8](repeating: 1, count: 16)) }
    }
}
