import Synchronization
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

/// An executor that keeps its work until the test runs it, on the test's thread.
final class HeldExecutor: WorkExecutor {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    var waitingCount: Int { waiting.withLock { $0.count } }

    /// Runs the oldest piece of work, and returns false if there was none.
    @discardableResult
    func runOne() -> Bool {
        guard let work = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        work()
        return true
    }

    func runAll() { while runOne() {} }
}

/// A directory of its own, which is removed when the object goes.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = try ScratchFolder.make()
    }

    deinit { ScratchFolder.remove(path) }

    /// Writes a text file, and makes the directories above it.
    func put(_ file: String, _ text: String) throws {
        var directory = path
        for name in file.split(separator: "/").dropLast() {
            directory += "/" + name
            try PosixFileSystem().makeDirectory(directory)
        }
        try writeFile(path + "/" + file, Array(text.utf8))
    }
}

/// A disk cache in a directory of its own, with a clock, background work and a file system that the test controls.
struct Bench {
    let scratch: Scratch
    let clock = ManualClock()
    let executor = HeldExecutor()
    let files: FaultyFileSystem
    let cache: DiskCache

    /// The bytes of a cache's own files: the tag and the common total, a block each.
    static let overhead = ByteCount(2 * 4096)

    /// - Parameter bytes: the limit for entries, without ``overhead``.
    init(
        bytes: ByteCount = .mebibytes(64), age: Duration? = nil, scratch: Scratch? = nil, synchronises: Bool = false,
        isMetering: Bool = false
    ) throws {
        self.scratch = try scratch ?? Scratch()
        files = FaultyFileSystem(isMetering: isMetering)
        var configuration = DiskCacheConfiguration(
            directory: self.scratch.path + "/cache", limits: .init(bytes: bytes + Self.overhead, age: age))
        configuration.synchronises = synchronises
        cache = DiskCache(configuration, executor: executor, clock: clock, files: files)
    }

    /// A new cache on the same directory, which stands for another process. It has a clock and an executor of its own.
    func reopened(bytes: ByteCount = .mebibytes(64), age: Duration? = nil) throws -> Bench {
        try Bench(bytes: bytes, age: age, scratch: scratch)
    }

    var directory: String { scratch.path + "/cache" }
    var versionDirectory: String { directory + "/default/v1" }

    /// The bytes of the blocks that all entries take, including those being written, as the file system reports them.
    func allocatedBytes() throws -> Int64 { Int64(try WebImageCacheTests.allocatedBytes(in: versionDirectory)) }

    /// Makes all shard directories look old. The index does not store directories that have just changed, because they
    /// may change again within the resolution of their dates.
    func makeShardsOld() throws {
        let files = PosixFileSystem()
        for name in try files.names(in: versionDirectory) where name.utf8.count == 2 {
            try files.touch("\(versionDirectory)/\(name)", at: clock.wallTime - 100_000_000)
        }
    }

    /// The names of files in the shards that are being written, or that an interrupted write left.
    func temporaryNames() -> [String] { temporaryFiles(in: versionDirectory).map(\.name) }
}

/// The bytes of the blocks that all files in a cache's shards take, as the file system reports them.
func allocatedBytes(in versionDirectory: String) throws -> Int {
    let files = PosixFileSystem()
    var sum: Int64 = 0
    for folder in (try? files.names(in: versionDirectory)) ?? [] where folder.utf8.count == 2 {
        for name in (try? files.names(in: versionDirectory + "/" + folder)) ?? [] {
            // The file may be removed meanwhile.
            sum += (try? files.status(at: versionDirectory + "/" + folder + "/" + name).allocated) ?? 0
        }
    }
    return Int(sum)
}

/// The temporary files in a cache's shards.
func temporaryFiles(in versionDirectory: String) -> [(name: String, path: String)] {
    let files = PosixFileSystem()
    return ((try? files.names(in: versionDirectory)) ?? []).filter { $0.count == 2 }.flatMap { shard in
        let names = (try? files.names(in: versionDirectory + "/" + shard)) ?? []
        return names.filter { $0.hasPrefix(".") }.map { ($0, "\(versionDirectory)/\(shard)/\($0)") }
    }
}

func readFile(_ path: String) throws -> [UInt8] {
    let files = PosixFileSystem()
    let file = try files.open(path, .read)
    defer { files.close(file) }
    let size = Int(try files.status(of: file).size)
    var bytes = [UInt8](repeating: 0, count: size)
    let count = try bytes.withUnsafeMutableBytes { try files.readAll(file, into: $0, at: 0) }
    try #require(count == size)
    return bytes
}

func writeFile(_ path: String, _ bytes: [UInt8]) throws {
    let files = PosixFileSystem()
    let file = try files.open(path, .readWrite)
    defer { files.close(file) }
    try files.truncate(file, to: 0)
    try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
}

func makeImage(bytes: Int) throws -> Image {
    try Image(size: PixelSize(width: max(bytes / 4, 1), height: 1)) { _ in }
}

func metadata(_ number: Int) -> DiskMetadata {
    var metadata = DiskMetadata()
    metadata.status = number
    metadata.storedAt = ManualClock.start
    return metadata
}

/// A file's permission bits.
func mode(_ path: String) throws -> UInt32 {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o777
}
