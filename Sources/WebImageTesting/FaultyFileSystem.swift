import Synchronization
package import WebImageCore
import WebImageSystem

/// A file system that counts the calls to another one and makes those fail, do half of their work or wait, that a test
/// chose.
package final class FaultyFileSystem: FileSystem {
    package enum Call: Hashable, Sendable, CaseIterable {
        case open, openTemporary, read, write, truncate, sync, status, rename, remove, removeDirectory, makeDirectory
        case names, space, touch, lock
    }

    /// What a chosen call does in place of what it should.
    package enum Fault: Hashable, Sendable {
        /// Nothing, and fails with that error number.
        case error(Int32)
        /// For reads and writes: no more than that many bytes, and says so. For locks: somebody else has it.
        case short(Int)
        /// For writes: that many bytes, and then fails with that error number. For others: as ``error(_:)``.
        case torn(Int, Int32)
    }

    private struct Rule {
        /// Nil means any call.
        var call: Call?
        /// Which of the calls that it means, counted from 0 when it was made.
        var numbers: Range<Int>
        var seen = 0
        var fault: Fault?
        var delay: DelayedCall?
    }

    private struct State {
        var rules: [Rule] = []
        var counts: [Call: Int] = [:]
        /// Bytes that may still be written, where the disk is to be full some time.
        var room: Int?
        /// What the disk says that it has free, where it is to say something else than it does.
        var freeSpace: Int64?
        /// How long its blocks are, where they are to be longer than they are.
        var blockLength: Int64?
        /// Whether the disk says so beforehand.
        var tellsBlocks = false
        /// Files that are open for reading alone, where those cannot be locked; nil: they can.
        var unlockable: Set<Int32>?
        var onListing: (@Sendable (String) -> Void)?
        /// Whom files are said to belong to, by path.
        var owners: [String: UInt32] = [:]

        mutating func next(_ call: Call) -> (fault: Fault?, delays: [DelayedCall]) {
            counts[call, default: 0] += 1
            var (fault, delays): (Fault?, [DelayedCall]) = (nil, [])
            for index in rules.indices where rules[index].call == nil || rules[index].call == call {
                if rules[index].numbers.contains(rules[index].seen) {
                    fault = fault ?? rules[index].fault
                    if let delay = rules[index].delay { delays.append(delay) }
                }
                rules[index].seen += 1
            }
            return (fault, delays)
        }
    }

    /// What files take, in blocks of 4 KiB, since metering began.
    private struct Meter {
        var used: Int64 = 0
        var peak: Int64 = 0

        mutating func add(_ bytes: Int64) {
            used += bytes
            peak = max(peak, used)
        }
    }

    private let base: any FileSystem
    private let state = Guarded(State())
    private let isMetering: Bool
    private let meter = Guarded(Meter())

    /// - Parameter isMetering: whether ``peakBytes`` is kept; writes, renames and removals then run one at a time.
    package init(_ base: any FileSystem = PosixFileSystem(), isMetering: Bool = false) {
        self.base = base
        self.isMetering = isMetering
    }

    // MARK: - What tests say

    /// Makes the `number`-th of these calls from now on fail, counted from 0; with no `call`, the `number`-th of all.
    package func fail(_ call: Call? = nil, at number: Int, with fault: Fault) {
        state.withLock { $0.rules.append(Rule(call: call, numbers: number..<number + 1, fault: fault)) }
    }

    /// Makes all of these calls fail from now on; with no `call`, all calls of all kinds.
    package func failAll(_ call: Call? = nil, with fault: Fault) {
        state.withLock { $0.rules.append(Rule(call: call, numbers: 0..<Int.max, fault: fault)) }
    }

    /// Makes the `number`-th of these calls from now on, counted from 0, wait until the test lets it go on; it may fail
    /// then, if it is told to besides. With no `call`, the `number`-th of all.
    package func delay(_ call: Call? = nil, at number: Int = 0) -> DelayedCall {
        let delay = DelayedCall()
        state.withLock { $0.rules.append(Rule(call: call, numbers: number..<number + 1, delay: delay)) }
        return delay
    }

    /// Lets that many more bytes be written; what goes beyond fails with ENOSPC.
    package func fillUp(after bytes: Int) { state.withLock { $0.room = bytes } }

    /// Has ``linkStatus(at:)`` say that something belongs to that user.
    package func setOwner(_ owner: UInt32, of path: String) { state.withLock { $0.owners[path] = owner } }

    /// Has files take whole blocks of that length.
    package func setBlockLength(_ length: Int64, isTold: Bool) {
        state.withLock { ($0.blockLength, $0.tellsBlocks) = (length, isTold) }
    }

    /// Has files that are open for reading alone refuse to be locked, as NFS and SMB do.
    package func locksWritableFilesOnly() { state.withLock { $0.unlockable = [] } }

    /// Calls `action` with each directory right before it is listed, on the thread that lists it.
    package func onListing(_ action: @escaping @Sendable (String) -> Void) { state.withLock { $0.onListing = action } }

    package func setFreeSpace(_ bytes: Int64) { state.withLock { $0.freeSpace = bytes } }

    /// The most that all files written here took at any moment, in bytes of 4 KiB blocks.
    package var peakBytes: Int64 { meter.withLock { $0.peak } }
    /// What they take now.
    package var usedBytes: Int64 { meter.withLock { $0.used } }

    /// Everything works again.
    package func heal() {
        state.withLock { state in
            state.rules = []
            state.room = nil
        }
    }

    package func count(of call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }
    /// All calls, but `close` and `unlock`, which cannot fail.
    package var callCount: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    // MARK: - The calls

    /// ENOSPC, which is 28 on every system that we know.
    private static let noSpace: Int32 = 28
    /// EBADF.
    private static let badFile: Int32 = 9

    /// Counts a call and has it wait where it is to; returns how it is to fail.
    private func begin(_ call: Call) -> Fault? {
        let (fault, delays) = state.withLock { $0.next(call) }
        for delay in delays { delay.pass() }
        return fault
    }

    private func check(_ call: Call, _ path: String = "") throws(FileFault) {
        switch begin(call) {
        case .error(let number), .torn(_, let number): throw FileFault("\(call)", path, number)
        case .short, nil: return
        }
    }

    /// Runs `action`; `size` says what the files that it touches take together, before and after.
    private func metered<Result>(
        _ size: () -> Int64, _ action: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        guard isMetering else { return try action() }
        return try meter.withLock { meter throws(FileFault) in
            let before = size()
            defer { meter.add(size() - before) }
            return try action()
        }
    }

    private func blocks(_ status: FileStatus?) -> Int64 { status.map { ($0.size + 4095) & ~4095 } ?? 0 }

    private func blocks(at path: FilePath) -> Int64 { blocks(try? base.status(at: path)) }

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileFault) -> Int32 {
        try check(.open, path.text)
        let file = try base.open(path, access)
        if access == .read || access == .readOwn { state.withLock { _ = $0.unlockable?.insert(file) } }
        return file
    }

    package func openDirectory(_ path: String) throws(FileFault) -> Int32 {
        try check(.open, path)
        return try base.openDirectory(path)
    }

    package func openTemporary(in directory: String) throws(FileFault) -> Int32 {
        try check(.openTemporary, directory)
        return try base.openTemporary(in: directory)
    }

    package func close(_ file: Int32) {
        state.withLock { _ = $0.unlockable?.remove(file) }
        base.close(file)
    }

    package func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        switch begin(.read) {
        case nil: return try base.read(file, into: buffer, at: offset)
        case .short(let most):
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, max(most, 1))])
            return try base.read(file, into: part, at: offset)
        case .error(let number), .torn(_, let number): throw FileFault("read", "", number)
        }
    }

    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) -> Int {
        func write(_ most: Int) throws(FileFault) -> Int {
            let part = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, max(most, 0))])
            if part.isEmpty { return 0 }
            return try metered({ blocks(try? base.status(of: file)) }) { () throws(FileFault) in
                try base.write(file, part, at: offset)
            }
        }
        let fault = begin(.write)
        if let room = state.withLock({ $0.room }) {
            guard room > 0 || bytes.isEmpty else { throw FileFault("write", "", Self.noSpace) }
            let done = try write(room)
            state.withLock { $0.room = max(room - done, 0) }
            return done
        }
        switch fault {
        case nil: return try write(bytes.count)
        // A write of nothing that is no failure would make callers try for ever.
        case .short(let most): return try write(max(most, 1))
        case .error(let number): throw FileFault("write", "", number)
        case .torn(let most, let number):
            _ = try write(most)
            throw FileFault("write", "", number)
        }
    }

    package func truncate(_ file: Int32, to length: Int64) throws(FileFault) {
        try check(.truncate)
        try base.truncate(file, to: length)
    }

    package func sync(_ file: Int32) throws(FileFault) {
        try check(.sync)
        try base.sync(file)
    }

    package func status(of file: Int32) throws(FileFault) -> FileStatus {
        try check(.status)
        return inBlocks(try base.status(of: file))
    }

    package func status(at path: FilePath) throws(FileFault) -> FileStatus {
        try check(.status, path.text)
        return inBlocks(try base.status(at: path))
    }

    package func linkStatus(at path: String) throws(FileFault) -> FileStatus {
        try check(.status, path)
        var status = try base.linkStatus(at: path)
        if let owner = state.withLock({ $0.owners[path] }) { status.owner = owner }
        return inBlocks(status)
    }

    private func inBlocks(_ status: FileStatus) -> FileStatus {
        guard let block = state.withLock({ $0.blockLength }) else { return status }
        var status = status
        status.allocated = (status.size + block - 1) / block * block
        return status
    }

    package func rename(_ from: FilePath, to: FilePath) throws(FileFault) {
        try check(.rename, to.text)
        try metered({ blocks(at: from) + blocks(at: to) }) { () throws(FileFault) in try base.rename(from, to: to) }
    }

    package func exchange(_ one: FilePath, _ other: FilePath) throws(FileFault) {
        try check(.rename, other.text)
        try base.exchange(one, other)
    }

    package func remove(_ path: FilePath) throws(FileFault) {
        try check(.remove, path.text)
        try metered({ blocks(at: path) }) { () throws(FileFault) in try base.remove(path) }
    }

    package func removeDirectory(_ path: String) throws(FileFault) {
        try check(.removeDirectory, path)
        try base.removeDirectory(path)
    }

    package func makeDirectory(_ path: FilePath) throws(FileFault) {
        try check(.makeDirectory, path.text)
        try base.makeDirectory(path)
    }

    package func names(in directory: String) throws(FileFault) -> [String] {
        try check(.names, directory)
        state.withLock { $0.onListing }?(directory)
        return try base.names(in: directory)
    }

    package func space(at path: String) throws(FileFault) -> (free: Int64, total: Int64, block: Int64) {
        try check(.space, path)
        let (freeSpace, block, tells) = state.withLock { ($0.freeSpace, $0.blockLength, $0.tellsBlocks) }
        var space = try base.space(at: path)
        if let freeSpace { (space.free, space.total) = (freeSpace, freeSpace) }
        if let block, tells { space.block = block }
        return space
    }

    package func touch(_ path: String, at time: Int64?) throws(FileFault) {
        try check(.touch, path)
        try base.touch(path, at: time)
    }

    package func lock(_ file: Int32, within patience: Duration) throws(FileFault) -> Bool {
        if state.withLock({ $0.unlockable?.contains(file) ?? false }) { throw FileFault("lock", "", Self.badFile) }
        switch begin(.lock) {
        case .error(let number), .torn(_, let number): throw FileFault("lock", "", number)
        case .short: return false
        case nil: return try base.lock(file, within: patience)
        }
    }

    package func unlock(_ file: Int32) { base.unlock(file) }
}
