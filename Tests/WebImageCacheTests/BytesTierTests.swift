import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// The conformance suite for tiers of bytes.
struct BytesTierTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case disk, memory

        var testDescription: String { rawValue }
    }

    /// A tier of the given kind with room for 64 KiB.
    private struct TierBench {
        let tier: any BytesTier
        private let folder: Scratch

        init(_ kind: Kind) throws {
            folder = try Scratch()
            let limit = ByteCount.kibibytes(64)
            switch kind {
            case .disk:
                let configuration = DiskCacheConfiguration(directory: folder.path, limits: .init(bytes: limit))
                tier = DiskCache(configuration, executor: ThreadPool(name: "tier", width: 2))
            case .memory: tier = MemoryTier(limit: limit)
            }
        }
    }

    private let key = CacheKey("https://pictures.test/a.png")
    /// The same date for all entries of a test, so that entries compare equal no matter when they were made.
    private let storedAt = SystemClock.shared.wallTime

    private func entry(_ body: [UInt8], tag: String = "\"1\"") -> TierEntry {
        var metadata = DiskMetadata()
        metadata.storedAt = storedAt
        metadata.status = 200
        metadata.headers = [DiskMetadata.Field(name: "etag", value: tag)]
        metadata.extendedData = [1, 2, 3]
        return TierEntry(body: body, metadata: metadata)
    }

    @Test(arguments: Kind.allCases) func aPutEntryIsFound(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.metadata(for: key) == nil)
        let entry = entry([1, 2, 3])
        #expect(try await tier.put(entry, for: key))
        #expect(try await tier.entry(for: key) == entry)
        #expect(try await tier.metadata(for: key) == entry.metadata)
        #expect(try await tier.entry(for: CacheKey("another")) == nil)
    }

    @Test(arguments: Kind.allCases) func anEmptyBodyIsAnEntry(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        #expect(try await tier.put(entry([]), for: key))
        #expect(try await tier.entry(for: key)?.body == [])
    }

    @Test(arguments: Kind.allCases) func aLaterPutTakesThePlaceOfAnEarlierOne(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        try await tier.put(entry([1]), for: key)
        try await tier.put(entry([2, 2], tag: "\"2\""), for: key)
        #expect(try await tier.entry(for: key) == entry([2, 2], tag: "\"2\""))
    }

    @Test(arguments: Kind.allCases) func aBodyThatIsTooLongIsRefused(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        #expect(try await !tier.put(entry([UInt8](repeating: 1, count: 100_000)), for: key))
        #expect(try await tier.entry(for: key) == nil)
    }

    @Test(arguments: Kind.allCases) func aRemovedEntryIsGone(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        #expect(try await !tier.remove(key))
        try await tier.put(entry([1]), for: key)
        #expect(try await tier.remove(key))
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.metadata(for: key) == nil)
        #expect(try await !tier.remove(key))
    }

    @Test(arguments: Kind.allCases) func anEntryIsRenewedOnlyIfItIsStillTheExpectedOne(kind: Kind) async throws {
        let tier = try TierBench(kind).tier
        let renewed: @Sendable (DiskMetadata) -> DiskMetadata? = { old in
            guard old.value(of: "ETag") == "\"1\"" else { return nil }
            var new = old
            new.headers.append(DiskMetadata.Field(name: "age", value: "0"))
            return new
        }
        #expect(try await !tier.renew(key, renewed))
        try await tier.put(entry([1]), for: key)
        #expect(try await tier.renew(key, renewed))
        let found = try await tier.entry(for: key)
        #expect(
            found?.body == [1] && found?.metadata.value(of: "age") == "0" && found?.metadata.extendedData == [1, 2, 3])
        try await tier.put(entry([2], tag: "\"2\""), for: key)
        #expect(try await !tier.renew(key, renewed))
        #expect(try await tier.entry(for: key) == entry([2], tag: "\"2\""))
    }

    @Test(arguments: Kind.allCases) func aCancelledCallThrowsCancelledOrEnds(kind: Kind) async throws {
        let bench = try TierBench(kind)
        let key = key
        let call = Task { () async -> Result<TierEntry?, WebImageError> in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(WebImageError) { return .success(try await bench.tier.entry(for: key)) } catch {
                return .failure(error)
            }
        }
        switch await call.value {
        case .success(let entry): #expect(entry == nil)
        case .failure(let error): #expect(error.code == .cancelled)
        }
    }

    @Test(arguments: Kind.allCases, [UInt64(1), 2, 3]) func aRandomWalkAgreesWithADictionary(
        kind: Kind, seed: UInt64
    ) async throws {
        let tier = try TierBench(kind).tier
        var random = SeededGenerator(seed: seed)
        var model: [CacheKey: TierEntry] = [:]
        for step in 0..<200 {
            // Eight small entries always fit.
            let key = CacheKey("key \(Int.random(in: 0..<8, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let tag = "\"\(Int.random(in: 0..<3, using: &random))\""
                let entry = entry(random.bytes(Int.random(in: 0..<2000, using: &random)), tag: tag)
                #expect(try await tier.put(entry, for: key), "step \(step)")
                model[key] = entry
            case 3..<5:
                let change: @Sendable (DiskMetadata) -> DiskMetadata? = { old in
                    guard old.value(of: "etag") != "\"0\"" else { return nil }
                    var new = old
                    new.headers = [DiskMetadata.Field(name: "etag", value: "\"\(step)\"")]
                    return new
                }
                let new = model[key].flatMap { change($0.metadata) }
                #expect(try await tier.renew(key, change) == (new != nil), "step \(step)")
                if let new { model[key]?.metadata = new }
            case 5..<6: #expect(try await tier.remove(key) == (model.removeValue(forKey: key) != nil), "step \(step)")
            case 6..<8: #expect(try await tier.metadata(for: key) == model[key]?.metadata, "step \(step)")
            default: #expect(try await tier.entry(for: key) == model[key], "step \(step)")
            }
        }
    }
}
