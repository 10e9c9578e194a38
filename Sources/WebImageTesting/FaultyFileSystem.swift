import Synchronization
package import WebImageCore
import WebImageSystem

/// A file system that passes calls on to another one and counts them. Calls that a test chooses fail, do only a part of
/// their work, or wait.
package final class FaultyFileSystem: FileSystem {
    package enum Call: Hashable, Sendable, CaseIterable {
        case open, openTemporary, read, write, truncate, sync, status, rename, remove, removeDirectory, makeDirectory
        case names, space, touch, lock
    }

    /// The behaviour of a chosen call.
    package enum Fault: Hashable, Sendable {
        /// The call does nothing and fails with this error number.
        case error(Int32)
        /// Reads and writes: the call transfers at most this many bytes, and returns that number. Locks: the call finds
        /// that another holder has the lock.
        case short(Int)
        /// Writes: the call writes this many bytes, and then fails with this error number. Other calls fail as with
        /// ``error(_:)``.
        case torn(Int, Int32)
    }

    private struct Rule {
        /// Nil means any call.
        var call: Call?
        /// The calls to which the rule applies, counted from 0 when the rule was made.
        var numbers: Range<Int>
        var seen = 0
        var fault: Fault?
        var delay: DelayedCall?
    }

    private struct State {
        var rules: [Rule] = []
        var counts: [Call: Int] = [:]
        /// The bytes that can be written until the disk is full; nil if the disk does not fill up.
        var room: Int?
        /// The free space that the disk reports; nil for the real one.
        var freeSpace: Int64?
        /// The length of the disk's blocks; nil for the real one.
        var blockLength: Int64?
        /// Whether the disk reports the length of its blocks.
        var tellsBlocks = false
        /// The files that are open only for reading, if such files cannot be locked; nil if they can.
        var unlockable: Set<Int32>?
        var onListing: (@Sendable (String) -> Void)?
        /// The users who own files according to their status, by path.
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

    /// The bytes that files take in blocks of 4 KiB, since metering began.
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

    /// - Parameter isMetering: whether ``peakBytes`` is measured. Writes, renames and removals then run one at a time.
    package init(_ base: any FileSystem = PosixFileSystem(), isMetering: Bool = false) {
        self.base = base
        self.isMetering = isMetering
    }

    // MARK: - Set by tests

    /// Makes the `number`-th call of this kind from now on fail, counted from 0; without `call`, the `number`-th of all
    /// calls.
    package func fail(_ call: Call? = nil, at number: Int, with fault: Fault) {
        state.withLock { $0.rules.append(Rule(call: call, numbers: number..<number + 1, fault: fault)) }
    }

    /// Makes all calls of this kind fail from now on; without `call`, all calls of all kinds.
    package func failAll(_ call: Call? = nil, with fault: Fault) {
        state.withLock { $0.rules.append(Rule(call: call, numbers: 0..<Int.max, fault: fault)) }
    }

    /// Makes the `number`-th call of this kind from now on, counted from 0, wait until the test lets it continue;
    /// without `call`, the `number`-th of all calls. The call may also be made to fail after the wait.
    package func delay(_ call: Call? = nil, at number: Int = 0) -> DelayedCall {
        let delay = DelayedCall()
        state.withLock { $0.rules.append(Rule(call: call, numbers: number..<number + 1, delay: delay)) }
        return delay
    }

    /// Lets this many more bytes be written; further writes fail with ENOSPC.
    package func fillUp(after bytes: Int) { state.withLock { $0.room = bytes } }

    /// Makes ``linkStatus(at:)`` report this owner for a path.
    package func setOwner(_ owner: UInt32, of path: String) { state.withLock { $0.owners[path] = owner } }

    /// Makes files take whole blocks of this length.
    package func setBlockLength(_ length: Int64, isTold: Bool) {
        state.withLock { ($0.blockLength, $0.tellsBlocks) = (length, isTold) }
    }

    /// Makes files that are open only for reading refuse locks, as on NFS and SMB.
    package func locksWritableFilesOnly() { state.withLock { $0.unlockable = [] } }

    /// Calls `action` with each directory right before it is listed, on the thread that lists it.
    package func onListing(_ action: @escaping @Sendable (String) -> Void) { state.withLock { $0.onListing = action } }

    package func setFreeSpace(_ bytes: Int64) { state.withLock { $0.freeSpace = bytes } }

    /// The most that all files written here took at any time, in bytes of 4 KiB blocks.
    package var peakBytes: Int64 { meter.withLock { $0.peak } }
    /// The bytes that they take now.
    package var usedBytes: Int64 { meter.withLock { $0.used } }

    /// Removes all failures and delays, and the limit for writes.
    package func heal() {
        state.withLock { state in
            state.rules = []
            state.room = nil
        }
    }

    package func count(of call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }
    /// The number of all calls except `close` and `unlock`, which cannot fail.
    package var callCount: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    // MARK: - The calls

    /// ENOSPC, which is 28 on every system that we know.
    private static let noSpace: Int32 = 28
    /// EBADF.
    private static let badFile: Int32 = 9

    /// Counts a call, makes it wait if a rule says so, and returns its fault.
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

    /// Runs `action`. `size` returns the bytes that the affected files take together, before and after.
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
        // An empty write that succeeds would make callers try for ever.
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
