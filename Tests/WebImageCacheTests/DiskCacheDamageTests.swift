import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// A damaged disk cache may lose entries but never returns wrong ones.
struct DiskCacheDamageTests {
    private let key = CacheKey("k")
    private let other = CacheKey("other")
    private let body = Array("a small body".utf8)

    private func makeBench() throws -> (Bench, path: String, file: [UInt8]) {
        let bench = try Bench()
        try bench.cache.store(other, [9], metadata(9))
        try bench.cache.store(key, body, metadata(200))
        let path = try #require(try bench.cache.path(for: key))
        return (bench, path, try readFile(path))
    }

    private func expectLoss(_ bench: Bench, _ path: String, _ note: String, read: (CacheKey) throws -> Bool) throws {
        let before = bench.cache.statistics.corruptEntries
        #expect(try !read(key), "\(note)")
        #expect(bench.cache.statistics.corruptEntries == before + 1, "\(note)")
        #expect(throws: FileFault.self, "\(note)") { try PosixFileSystem().status(at: path) }
        #expect(try bench.cache.read(other)?.body == [9], "\(note)")
    }

    @Test func everyFlippedBitIsFound() throws {
        let (bench, path, file) = try makeBench()
        for place in file.indices {
            var damaged = file
            damaged[place] ^= 1 << UInt8(place % 8)
            try writeFile(path, damaged)
            try expectLoss(bench, path, "byte \(place)") { try bench.cache.read($0) != nil }
        }
    }

    /// - Parameter others: the number of other caches on the directory, which decides how a written file gets its name.
    @Test(arguments: [0, 1])
    func anEmptyDirectoryInAnEntrysPlaceIsReplaced(others: Int) throws {
        let (bench, path, _) = try makeBench()
        let rest = try (0..<others).map { _ in try bench.reopened() }
        for other in rest { try other.cache.store(CacheKey("theirs"), [1], metadata(1)) }
        let files = PosixFileSystem()
        func occupy() throws {
            try? files.remove(path)
            try files.makeDirectory(path)
        }
        try occupy()
        #expect(try bench.cache.read(key) == nil)
        try? occupy()
        #expect(try bench.cache.store(key, body, metadata(201)))
        #expect(try bench.cache.read(key)?.body == body)
        try occupy()
        try bench.cache.remove(key)
        #expect(throws: FileFault.self) { try files.status(at: path) }
        // A directory that is not empty is never removed, because its contents do not belong to the cache.
        try occupy()
        try writeFile(path + "/foreign", [1])
        let error = #expect(throws: WebImageError.self) { try bench.cache.store(key, body, metadata(202)) }
        #expect(error?.code == .cacheIO)
        #expect(try readFile(path + "/foreign") == [1])
        #expect(try bench.cache.read(other)?.body == [9] && bench.cache.fault() == nil)
        #expect(bench.temporaryNames().isEmpty)
    }

    @Test func everyCutAndEveryTailIsFound() throws {
        let (bench, path, file) = try makeBench()
        for length in file.indices {
            try writeFile(path, Array(file.prefix(length)))
            try expectLoss(bench, path, "cut to \(length)") { try bench.cache.read($0) != nil }
        }
        for extra in [1, 63, 64, 5000] {
            try writeFile(path, file + [UInt8](repeating: 0, count: extra))
            try expectLoss(bench, path, "\(extra) more") { try bench.cache.read($0) != nil }
        }
    }

    @Test func damagedMetadataIsFoundWithoutReadingTheBody() throws {
        let (bench, path, file) = try makeBench()
        for place in body.count..<file.count {
            var damaged = file
            damaged[place] ^= 0x10
            try writeFile(path, damaged)
            try expectLoss(bench, path, "byte \(place)") { try bench.cache.readMetadata($0) != nil }
        }
    }

    @Test func aMetadataChangeThatWasCutOffIsFound() throws {
        let (bench, path, file) = try makeBench()
        try bench.cache.updateMetadata(key, metadata(304))
        let changed = try readFile(path)
        for length in (file.count + 1)..<changed.count {
            try writeFile(path, Array(changed.prefix(length)))
            try expectLoss(bench, path, "cut to \(length)") { try bench.cache.read($0) != nil }
        }
    }

    @Test func aDamagedByteOfALargeBodyIsFound() throws {
        let bench = try Bench()
        var random = SeededGenerator(seed: 1)
        let body = random.bytes(3 << 20)
        try bench.cache.store(other, [9], metadata(9))
        try bench.cache.store(key, body, metadata(200))
        #expect(try bench.cache.read(key)?.body == body)
        let path = try #require(try bench.cache.path(for: key))
        var file = try readFile(path)
        file[2 << 20] ^= 1
        try writeFile(path, file)
        try expectLoss(bench, path, "body") { try bench.cache.read($0) != nil }
    }

    @Test func filesThatChangedPlacesAreFound() throws {
        let (bench, path, file) = try makeBench()
        let otherPath = try #require(try bench.cache.path(for: other))
        try writeFile(path, try readFile(otherPath))
        try expectLoss(bench, path, "swapped") { try bench.cache.read($0) != nil }
        try writeFile(otherPath, file)
        #expect(try bench.cache.read(other) == nil)
        #expect(try bench.cache.read(key) == nil)
    }

    @Test func aWipedDirectoryIsMadeAgain() throws {
        let (bench, _, _) = try makeBench()
        ScratchFolder.remove(bench.directory)
        #expect(try bench.cache.read(key) == nil)
        #expect(try bench.cache.store(key, body, metadata(1)))
        #expect(try bench.cache.read(key)?.body == body)
        #expect(bench.cache.usage.count == 1 && bench.cache.usage.bytes.bytes == 4096)
    }

    @Test func aDirectoryWipedDuringAWriteLosesThatWriteOnly() throws {
        let (bench, _, _) = try makeBench()
        let writer = try bench.cache.makeWriter(for: key)
        try writer.append([1])
        ScratchFolder.remove(bench.directory)
        let error = #expect(throws: WebImageError.self) { try writer.commit(metadata(1)) }
        #expect(error?.code == .cacheIO)
        #expect(try bench.cache.store(key, body, metadata(1)))
        #expect(try bench.cache.read(key)?.body == body)
        #expect(bench.cache.usage.bytes.bytes == 4096)
    }

    @Test func aFileInThePlaceOfTheDirectoryIsATypedError() throws {
        let bench = try Bench()
        try writeFile(bench.directory, [1])
        let writeError = #expect(throws: WebImageError.self) { try bench.cache.store(key, body, metadata(1)) }
        #expect(writeError?.code == .cacheIO && writeError?.message.hasSuffix(": Not a directory") == true)
        let readError = #expect(throws: WebImageError.self) { try bench.cache.read(key) }
        #expect(readError?.code == .cacheIO && readError?.message.hasSuffix(": Not a directory") == true)
        #expect(throws: WebImageError.self) { try bench.cache.entries() }
    }

    @Test(arguments: [
        (30, WebImageError.Code.readOnly), (13, .readOnly), (28, .noSpace), (122, .noSpace), (5, .cacheIO),
    ])
    func aFailedWriteHasTheCodeOfItsCause(errorNumber: Int, code: WebImageError.Code) throws {
        for call in [FaultyFileSystem.Call.open, .write, .rename] {
            let (bench, _, _) = try makeBench()
            bench.files.failAll(call, with: .error(Int32(errorNumber)))
            let error = #expect(throws: WebImageError.self) { try bench.cache.store(key, [7], metadata(1)) }
            #expect(error?.code == code)
            bench.files.heal()
            #expect(try bench.cache.read(key)?.body == body)
            #expect(bench.temporaryNames().isEmpty)
            #expect(bench.cache.usage.bytes.bytes == 8192)
        }
    }

    @Test func aFullDiskLosesTheNewEntryAndKeepsTheOld() throws {
        for room in stride(from: 0, through: 9000, by: 500) {
            let (bench, _, _) = try makeBench()
            bench.files.fillUp(after: room)
            let error = #expect(throws: WebImageError.self) {
                try bench.cache.store(key, [UInt8](repeating: 1, count: 10_000), metadata(1))
            }
            #expect(error?.code == .noSpace)
            bench.files.heal()
            #expect(try bench.cache.read(key)?.body == body)
            #expect(bench.temporaryNames().isEmpty && bench.cache.usage.bytes.bytes == 8192)
            #expect(try bench.cache.store(key, [7], metadata(1)))
        }
    }

    @Test func aMetadataChangeOnAFullDiskLeavesTheEntryAsItWas() throws {
        // The bytes that are added: 4 bytes, the key, two numbers and the footer.
        for room in 0..<(4 + 7 + 2 * 14 + 64) {
            let (bench, path, file) = try makeBench()
            bench.files.fillUp(after: room)
            let error = #expect(throws: WebImageError.self) { try bench.cache.updateMetadata(key, metadata(304)) }
            #expect(error?.code == .noSpace)
            bench.files.heal()
            #expect(try readFile(path) == file)
            #expect(try bench.cache.read(key)?.metadata.status == 200)
        }
    }

    /// The cache once wrote to a file that was open only for reading, and removed the entry because the write failed.
    @Test(arguments: [(24, .cacheIO), (13, .readOnly)] as [(Int32, WebImageError.Code)])
    func aMetadataChangeThatCannotOpenTheFileLeavesTheEntry(errorNumber: Int32, code: WebImageError.Code) throws {
        var failures = 0
        for number in 0..<6 {
            let (bench, path, file) = try makeBench()
            bench.files.fail(.open, at: number, with: .error(errorNumber))
            do throws(WebImageError) {
                try bench.cache.updateMetadata(key, metadata(304))
            } catch {
                #expect(error.code == code, "open \(number)")
                #expect(try readFile(path) == file, "open \(number)")
                failures += 1
            }
            bench.files.heal()
            #expect(try bench.cache.read(key)?.body == body, "open \(number)")
        }
        #expect(failures >= 2)
    }

    /// Runs all operations once for each call to the file system, with that call failing.
    @Test(arguments: [FaultyFileSystem.Fault.error(5), .error(28), .error(2), .torn(7, 5), .short(3)])
    func aFailureOfAnyFileCallLeavesNoWrongEntry(fault: FaultyFileSystem.Fault) throws {
        var number = 0
        while true {
            let (bench, _, _) = try makeBench()
            let before = bench.files.callCount
            bench.files.fail(at: number, with: fault)
            let news = [UInt8](repeating: 5, count: 9000)
            _ = try? bench.cache.store(key, news, metadata(1))
            _ = try? bench.cache.updateMetadata(key, metadata(2))
            _ = try? bench.cache.read(key)
            _ = try? bench.cache.store(CacheKey("third"), [3], metadata(3))
            _ = try? bench.cache.remove(other)
            _ = try? bench.cache.verify()
            _ = try? bench.cache.removeExpired()
            let calls = bench.files.callCount - before
            bench.files.heal()
            for (key, bodies) in [(key, [body, news]), (other, [[9]]), (CacheKey("third"), [[3]])] {
                if let found = try bench.cache.read(key)?.body { #expect(bodies.contains(found), "call \(number)") }
            }
            #expect(bench.cache.fault() == nil)
            #expect(bench.temporaryNames().count <= 1, "call \(number)")
            let again = try bench.reopened()
            again.executor.runAll()
            #expect(again.cache.usage.bytes >= bench.cache.usage.bytes || bench.temporaryNames().isEmpty)
            #expect(try again.cache.verify().bad == 0, "call \(number)")
            if number >= calls { break }
            number += 1
        }
        #expect(number > 20)
    }

    @Test func ofAThousandEntriesOnlyTheDamagedOnesAreLost() throws {
        let bench = try Bench()
        var random = SeededGenerator(seed: 5)
        let bodies = (0..<1000).map { _ in random.bytes(Int.random(in: 1..<3000, using: &random)) }
        for (number, body) in bodies.enumerated() {
            try bench.cache.store(CacheKey("\(number)"), body, metadata(number))
        }
        let files = PosixFileSystem()
        for number in stride(from: 0, to: 1000, by: 2) {
            let path = bench.cache.defaultPath(for: CacheKey("\(number)"))
            var file = try readFile(path)
            switch number / 2 % 4 {
            case 0: file[Int.random(in: 0..<file.count, using: &random)] ^= 1
            case 1: file.removeLast(Int.random(in: 1...file.count, using: &random))
            case 2: file = try readFile(bench.cache.defaultPath(for: CacheKey("\((number + 1) % 1000)")))
            default:
                try files.remove(path)
                continue
            }
            try writeFile(path, file)
        }
        for (number, body) in bodies.enumerated() {
            #expect(try bench.cache.read(CacheKey("\(number)"))?.body == (number % 2 == 0 ? nil : body))
        }
        #expect(bench.cache.statistics.corruptEntries == 375)
        #expect(bench.cache.usage.count == 500)
        #expect(bench.cache.fault() == nil)
    }
}
