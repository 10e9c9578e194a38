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

/// Keeps work until the test runs it, on the test's thread.
final class HeldExecutor: WorkExecutor {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    var waitingCount: Int { waiting.withLock { $0.count } }

    /// Runs one piece; false when there was none.
    @discardableResult
    func runOne() -> Bool {
        guard let work = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        work()
        return true
    }

    func runAll() { while runOne() {} }
}

/// A directory of its own, which goes with it.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = try ScratchFolder.make()
    }

    deinit { ScratchFolder.remove(path) }

    /// Writes a text file, with the directories that it lies in.
    func put(_ file: String, _ text: String) throws {
        var directory = path
        for name in file.split(separator: "/").dropLast() {
            directory += "/" + name
            try PosixFileSystem().makeDirectory(directory)
        }
        try writeFile(path + "/" + file, Array(text.utf8))
    }
}

/// A disk cache in a directory of its own, whose time and background work the test moves.
struct Bench {
    let scratch: Scratch
    let clock = ManualClock()
    let executor = HeldExecutor()
    let files: FaultyFileSystem
    let cache: DiskCache

    /// What a cache's own files take: the tag and the common total, a block each.
    static let overhead = ByteCount(2 * 4096)

    /// - Parameter bytes: what is left for entries.
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

    /// The same directory, seen by a cache that knows nothing of it yet.
    func reopened(bytes: ByteCount = .mebibytes(64), age: Duration? = nil) throws -> Bench {
        try Bench(bytes: bytes, age: age, scratch: scratch)
    }

    var directory: String { scratch.path + "/cache" }
    var versionDirectory: String { directory + "/default/v1" }

    /// The blocks that all entries take, those being written included, asked from the file system.
    func allocatedBytes() throws -> Int64 { Int64(try WebImageCacheTests.allocatedBytes(in: versionDirectory)) }

    /// Directories that have just changed are not written down, as they may change again in the same tick.
    func makeShardsOld() throws {
        let files = PosixFileSystem()
        for name in try files.names(in: versionDirectory) where name.utf8.count == 2 {
            try files.touch("\(versionDirectory)/\(name)", at: clock.wallTime - 100_000_000)
        }
    }

    /// Files that are being written, or were to be.
    func temporaryNames() -> [String] { temporaryFiles(in: versionDirectory).map(\.name) }
}

/// The blocks that all files in a cache's shards take, asked from the file system.
func allocatedBytes(in versionDirectory: String) throws -> Int {
    let files = PosixFileSystem()
    var sum: Int64 = 0
    for folder in (try? files.names(in: versionDirectory)) ?? [] where folder.utf8.count == 2 {
        for name in (try? files.names(in: versionDirectory + "/" + folder)) ?? [] {
            // It may go while we look.
            sum += (try? files.status(at: versionDirectory + "/" + folder + "/" + name).allocated) ?? 0
        }
    }
    return Int(sum)
}

/// Files in a cache's shards that are no entries yet.
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
