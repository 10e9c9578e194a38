import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// A change that was made from an old entry must not overwrite a newer entry.
struct DiskLateWriteTests {
    private let key = CacheKey("a")
    private let old: [UInt8] = [1, 2, 3]
    private let new: [UInt8] = [4, 5]

    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(key, old, metadata(200))
        return bench
    }

    /// What happens to the entry after its metadata was read and before the change is written.
    enum Meanwhile: CaseIterable {
        case nothing, store, remove, update, storeByAnother, removeByAnother
    }

    private func happen(_ what: Meanwhile, _ bench: Bench, _ other: Bench) throws {
        switch what {
        case .nothing: break
        case .store: try bench.cache.store(key, new, metadata(201))
        case .remove: try bench.cache.remove(key)
        case .update: try bench.cache.updateMetadata(key, metadata(202))
        case .storeByAnother: try other.cache.store(key, new, metadata(201))
        case .removeByAnother: try other.cache.remove(key)
        }
    }

    @Test func aMetadataChangeGivesUpAfterEightReplacements() throws {
        let bench = try makeBench()
        let other = try bench.reopened()
        other.executor.runAll()
        var count = 0
        let error = #expect(throws: WebImageError.self) {
            try bench.cache.changeMetadata(key) { _ in
                count += 1
                do { try other.cache.store(key, new, metadata(300 + count)) } catch { Issue.record(error) }
                return metadata(304)
            }
        }
        #expect(error?.code == .locked && count == 8)
        let entry = try bench.cache.read(key)
        #expect(entry?.body == new && entry?.metadata.status == 308)
    }

    /// A new body once got the validators of the old one.
    @Test(arguments: Meanwhile.allCases)
    func aMetadataChangeAppliesToTheEntryAtWriteTime(what: Meanwhile) throws {
        let bench = try makeBench()
        let other = try bench.reopened()
        other.executor.runAll()
        var seen: [Int?] = []
        let isChanged = try bench.cache.changeMetadata(key) { found in
            seen.append(found.status)
            if seen.count == 1 { do { try happen(what, bench, other) } catch { Issue.record(error) } }
            // Like a renewal by a 304, this does not change the metadata of another body.
            return found.status == 201 ? nil : metadata(304)
        }
        let entry = try bench.cache.read(key)
        switch what {
        case .nothing:
            #expect(isChanged && seen == [200] && entry?.body == old && entry?.metadata.status == 304)
        case .store, .storeByAnother:
            #expect(!isChanged && seen == [200, 201] && entry?.body == new && entry?.metadata.status == 201)
        case .remove, .removeByAnother:
            #expect(!isChanged && seen == [200] && entry == nil)
        case .update:
            #expect(isChanged && seen == [200, 202] && entry?.body == old && entry?.metadata.status == 304)
        }
        #expect(bench.cache.fault() == nil)
    }

    /// The entry's metadata was changed so often that its whole file is rewritten.
    @Test(arguments: Meanwhile.allCases)
    func aRewrittenEntryDoesNotReplaceALaterChange(what: Meanwhile) throws {
        let bench = try makeBench()
        let other = try bench.reopened()
        other.executor.runAll()
        let long = String(repeating: "x", count: 20_000)
        var large = metadata(200)
        large.url = long
        let length = { try PosixFileSystem().status(at: bench.cache.defaultPath(for: key)).size }
        while try length() < 66 << 10 { try bench.cache.updateMetadata(key, large) }
        let before = try length()
        var calls = 0
        _ = try bench.cache.changeMetadata(key) { found in
            calls += 1
            if calls == 1 { do { try happen(what, bench, other) } catch { Issue.record(error) } }
            return found.status == 201 ? nil : metadata(304)
        }
        let entry = try bench.cache.read(key)
        switch what {
        case .nothing:
            #expect(entry?.body == old && entry?.metadata.status == 304)
            #expect(try length() < before)
        case .store, .storeByAnother: #expect(entry?.body == new && entry?.metadata.status == 201)
        case .remove, .removeByAnother: #expect(entry == nil)
        case .update: #expect(entry?.body == old)
        }
        #expect(bench.temporaryNames().isEmpty && bench.cache.fault() == nil)
    }

    /// The same, with the removal during the rewrite.
    @Test func aRemoveDuringARewriteWins() throws {
        let bench = try makeBench()
        var large = metadata(200)
        large.url = String(repeating: "x", count: 20_000)
        let path = bench.cache.defaultPath(for: key)
        while try PosixFileSystem().status(at: path).size < 66 << 10 { try bench.cache.updateMetadata(key, large) }
        let writing = bench.files.delay(.write)
        let done = Gate()
        startThread(named: "wi-test") { [cache = bench.cache, key] in
            _ = try? cache.updateMetadata(key, metadata(304))
            done.open()
        }
        writing.waitUntilMade()
        #expect(try bench.cache.remove(key))
        writing.release()
        done.wait()
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.temporaryNames().isEmpty && bench.cache.usage.bytes == .zero)
    }

    /// A removal in the background may run late. It removes the entry that existed when it was requested, and nothing
    /// newer.
    @Test(arguments: [false, true]) func aLateRemoveSparesALaterStore(isStoredSince: Bool) throws {
        let bench = try makeBench()
        let before = bench.cache.orderWrite(of: key)
        let order = bench.cache.orderRemoval(of: key)
        #expect(!before.isWanted && order.isWanted)
        if isStoredSince { try bench.cache.store(key, new, metadata(201)) }
        // The entry is no longer found once its removal is requested.
        #expect(try bench.cache.read(key)?.body == (isStoredSince ? new : nil))
        #expect(isStoredSince || bench.cache.readAtOnce(key, { _ in true }) == nil)
        #expect(try (bench.cache.readMetadata(key) == nil) == !isStoredSince)
        #expect(try bench.cache.remove(key, as: order) == !isStoredSince)
        #expect(try bench.cache.read(key)?.body == (isStoredSince ? new : nil))
        #expect(bench.cache.fault() == nil)
    }
}
