import Logging
import Synchronization
package import WebImageCore
import WebImageSystem

/// Beginnings of bodies on disk: one file for each key, in a folder `partial` beside a disk cache's entries.
///
/// A claim is a lock on the file, which ends with its process. All processes together never exceed the limit: a file is
/// extended before it is written to, under a lock, and the oldest unclaimed files are removed for it.
package final class PartialStore: PartialBodyStore {
    package struct Limits: Hashable, Sendable {
        /// The limit for all partial bodies; next to a disk cache never more than a sixteenth of the cache's limit.
        /// Default 64 MiB.
        package var bytes = ByteCount.mebibytes(64)
        /// How long after its beginning a transfer may be resumed. Default a day.
        package var age = Duration.seconds(86_400)

        package init() {}
    }

    package struct Statistics: Hashable, Sendable {
        /// How many claims found a beginning.
        package var found = 0
        /// How many beginnings were removed for lack of room or for their age.
        package var dropped = 0
        /// How often bytes were not stored for lack of room.
        package var refusals = 0
        /// How many operations failed.
        package var faults = 0
    }

    private struct State {
        var statistics = Statistics()
        /// Nil until the folder has been listed.
        var known: Set<EntryID>?
    }

    /// Room is taken in pieces of this size, so that not every write lists the folder.
    private static let roomUnit: Int64 = 256 << 10
    private static let suffix = ".part"
    private static let lockName = "lock"
    /// How long to wait while other processes make room, for which each of them only lists the folder.
    private static let patience: Duration = .milliseconds(100)

    let files: any FileSystem
    let clock: any LoadClock
    private let layout: CacheLayout
    private let directory: String
    private let keepsKeys: Bool
    private let limits: Limits
    private let cache: DiskCache?
    private let logger: Logger
    private let state = Guarded(State())
    /// One thread at a time makes room; a lock on a file excludes other processes.
    private let roomTurn = Guarded(())

    /// Stores partial bodies next to the entries of the disk cache with that configuration.
    /// - Parameter owner: that cache, whose limit includes them.
    package init(
        _ cache: DiskCacheConfiguration, of owner: DiskCache? = nil, limits: Limits = Limits(),
        clock: any LoadClock = SystemClock.shared, files: any FileSystem = PosixFileSystem()
    ) {
        self.cache = owner
        layout = CacheLayout(directory: cache.directory, namespace: cache.namespace)
        directory = layout.partialDirectory
        keepsKeys = cache.keepsKeys
        self.limits = limits
        self.clock = clock
        self.files = files
        logger = cache.logger
        owner?.keepPartials { [weak self] in self?.removeExpired() }
    }

    package var statistics: Statistics { state.withLock { $0.statistics } }

    /// The size of the files, including room that was taken ahead. Blocks.
    package var usedBytes: ByteCount { ByteCount(Int(known().reduce(0) { $0 + $1.bytes })) }

    /// Removes unclaimed files that are too old or hold a key that must not be stored, and makes ``mayHave(_:)`` exact.
    /// Blocks.
    package func prepare() {
        removeExpired()
        let known = Set(known().map(\.id))
        state.withLock { $0.known = known }
    }

    /// Removes unclaimed files that are too old or hold a key that must not be stored. Blocks.
    package func removeExpired() {
        for found in known() where !isUsable(found.path) { drop(found.id) }
    }

    package func mayHave(_ key: CacheKey) -> Bool { state.withLock { $0.known?.contains(EntryID(key)) ?? true } }

    package func claim(_ key: CacheKey, creates: Bool) -> (any PartialBody)? {
        let path = path(of: EntryID(key))
        do throws(FileFault) {
            // Opening would create a missing file.
            if !creates, (try? files.status(at: path)) == nil { return nil }
            guard let (file, size) = try openLocked(path) else { return nil }
            let body = PartialFile(key, store: self, path: path, file: file, size: size)
            if size > 0, body.load() {
                if body.length > 0 { state.withLock { $0.statistics.found += 1 } }
                return body
            }
            if creates { return body }
            body.discard()
            return nil
        } catch {
            note(error, path)
            return nil
        }
    }

    /// Removes a beginning. If it is claimed, its transfer goes on, but can store nothing any more. Blocks.
    ///
    /// - Returns: whether there was one.
    /// - Throws: as ``removeAll()``.
    @discardableResult
    package func remove(_ key: CacheKey) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        // Most originals have no beginning.
        guard (try? files.status(at: path(of: id))) != nil else { return false }
        do throws(FileFault) { return try erase(id) } catch { throw removing(error, path(of: id)) }
    }

    /// Removes the beginnings of an original, also claimed ones, and those for other users and of requests with other
    /// header fields. The latter are found only if keys are stored. Blocks.
    ///
    /// - Returns: how many were removed, and the first error of those that could not be read or removed.
    package func removeAll(of plain: CacheKey) -> (count: Int, failure: WebImageError?) {
        let id = EntryID(plain)
        return removeAll { found throws(FileFault) in
            if found.id == id { return true }
            return try key(in: found.path)?.addsParts(to: plain) == true
        }
    }

    /// Removes all beginnings, also claimed ones. Blocks.
    ///
    /// - Throws: `readOnly` or `cacheIO` if one could not be removed, after all others were tried.
    package func removeAll() throws(WebImageError) {
        if let failure = removeAll(where: { _ in true }).failure { throw failure }
    }

    private func removeAll(
        where isMeant: (Found) throws(FileFault) -> Bool
    ) -> (count: Int, failure: WebImageError?) {
        let all: [Found]
        do throws(FileFault) { all = try listing() } catch { return (0, removing(error, directory)) }
        var (count, failure) = (0, WebImageError?.none)
        for found in all {
            do throws(FileFault) {
                if try isMeant(found), try erase(found.id) { count += 1 }
            } catch {
                failure = failure ?? removing(error, found.path)
            }
        }
        return (count, failure)
    }

    private func removing(_ fault: FileFault, _ path: String) -> WebImageError {
        fault.writeError("the beginning of a body cannot be removed", at: path)
    }

    // MARK: - Files

    private struct Found {
        let id: EntryID
        let path: String
        let bytes: Int64
        let modified: Int64
    }

    /// Whether a file of the folder belongs to a store.
    static func isOwn(_ name: String) -> Bool {
        name == lockName || name.hasSuffix(suffix) && EntryID(name: String(name.dropLast(suffix.count))) != nil
    }

    private func path(of id: EntryID) -> String { "\(directory)/\(id.name)\(Self.suffix)" }

    /// Whether a beginning is neither too old nor, because of a wrong clock, far in the future.
    func isCurrent(_ beganAt: Int64) -> Bool {
        let (age, overflow) = clock.wallTime.subtractingReportingOverflow(beganAt)
        return !overflow && age.magnitude < limits.age.wholeSeconds.magnitude
    }

    /// The files, as far as they can be listed.
    private func known() -> [Found] { (try? listing()) ?? [] }

    private func listing() throws(FileFault) -> [Found] {
        let names: [String]
        do throws(FileFault) {
            try layout.check(files)
            names = try files.names(in: directory)
        } catch  where error.isMissing {
            return []
        }
        return names.compactMap { name in
            guard name.hasSuffix(Self.suffix), let id = EntryID(name: String(name.dropLast(Self.suffix.count))),
                let status = try? files.status(at: path(of: id)), status.isRegularFile
            else { return nil }
            // By length, not by blocks, because room that was taken ahead counts, too.
            let bytes = FileStatus.blocks(status.size)
            return Found(id: id, path: path(of: id), bytes: bytes, modified: status.modified)
        }
    }

    /// True for a file that cannot be read now: it may be readable later.
    private func isUsable(_ path: String) -> Bool {
        let fixed: [UInt8]
        do throws(FileFault) {
            let file = try files.open(path, .readOwn)
            defer { files.close(file) }
            fixed = try files.readAll(file, PartialFileFormat.fixedHeaderLength, at: 0)
        } catch {
            return !error.isMissing
        }
        guard fixed.count == PartialFileFormat.fixedHeaderLength, let began = PartialFileFormat.beganAt(fixed),
            isCurrent(began)
        else { return false }
        return keepsKeys || PartialFileFormat.textLengths(fixed)?.key == EntryID.nameLength
    }

    /// The key of a beginning; nil if there is none by now, or no whole header.
    private func key(in path: String) throws(FileFault) -> CacheKey? {
        let file: Int32
        do throws(FileFault) { file = try files.open(path, .readOwn) } catch  where error.isMissing { return nil }
        defer { files.close(file) }
        return try readHeader(file).map { CacheKey($0.key) }
    }

    /// Nil if another process has claimed it.
    private func openLocked(_ path: String) throws(FileFault) -> (file: Int32, size: Int64)? {
        for _ in 0..<3 {
            let file = try open(path)
            do throws(FileFault) {
                let isOurs = try files.lock(file, within: .zero)
                let status = try files.status(of: file)
                // The file's owner may have removed it before releasing the lock: then the name belongs to another
                // file, or to none.
                if isOurs, (try? files.status(at: path))?.inode == status.inode { return (file, status.size) }
                files.closeLocked(file)
                if !isOurs { return nil }
            } catch {
                files.closeLocked(file)
                throw error
            }
        }
        return nil
    }

    private func open(_ path: String) throws(FileFault) -> Int32 {
        try layout.check(files)
        do throws(FileFault) {
            return try files.open(path, .readWrite)
        } catch  where error.isMissing {
            try layout.makeDirectories(files)
            try files.makeDirectory(directory)
            _ = try layout.checkInner(directory, files)
            return try files.open(path, .readWrite)
        }
    }

    /// Removes a file unless it is claimed.
    @discardableResult
    private func drop(_ id: EntryID) -> Bool {
        guard let locked = try? openLocked(path(of: id)) else { return false }
        defer { files.closeLocked(locked.file) }
        return (try? erase(id)) ?? false
    }

    /// Removes a file even if it is claimed. The claim's file then has no name any more and ends with the claim.
    @discardableResult
    private func erase(_ id: EntryID) throws(FileFault) -> Bool {
        do throws(FileFault) {
            try layout.check(files)
            try files.remove(path(of: id))
        } catch  where error.isMissing {
            return false
        }
        state.withLock { state in
            state.known?.remove(id)
            state.statistics.dropped += 1
        }
        return true
    }

    // MARK: - For claims

    /// The name of a key in its file: the key, or its hash (``DiskCacheConfiguration/keepsKeys``).
    func name(of key: CacheKey) -> String { keepsKeys ? key.text : EntryID(key).name }

    /// - Returns: nil if the file does not begin with a header.
    func readHeader(_ file: Int32) throws(FileFault) -> PartialFileFormat.Header? {
        let fixed = try files.readAll(file, PartialFileFormat.fixedHeaderLength, at: 0)
        guard let lengths = PartialFileFormat.textLengths(fixed) else { return nil }
        let text = try files.readAll(file, lengths.key + lengths.metadata, at: Int64(fixed.count))
        return PartialFileFormat.decode(fixed, text: text)
    }

    /// Extends a claimed file by at least `bytes` bytes.
    ///
    /// - Returns: its new length; nil if the limit leaves no room, another process holds on to the lock, or the file was
    ///   removed meanwhile.
    func grow(_ file: Int32, _ path: String, from size: Int64, by bytes: Int64) throws(FileFault) -> Int64? {
        try roomTurn.withLock { _ throws(FileFault) in
            guard isNamed(file, path) else { return nil }
            let turn = try open(directory + "/" + Self.lockName)
            defer { files.closeLocked(turn) }
            guard try files.lock(turn, within: Self.patience) else { return refuse() }
            let others = known().filter { $0.path != path }
            var used = others.reduce(0) { $0 + $1.bytes }
            let limit = min(Int64(max(limits.bytes.bytes, 0)), cache?.partialLimit ?? .max)
            let least = FileStatus.blocks(size + bytes)
            guard least <= limit else { return refuse() }
            for other in others.sorted(by: { $0.modified < $1.modified }) where used > limit - least {
                if drop(other.id) { used -= other.bytes }
            }
            guard used <= limit - least else { return refuse() }
            let wanted = min(max(size + Self.roomUnit, size + bytes), (limit - used) & ~4095)
            try files.truncate(file, to: wanted)
            return wanted
        }
    }

    /// Whether an open file still has its name: it may have been removed, and the name may belong to another file.
    func isNamed(_ file: Int32, _ path: String) -> Bool {
        guard let named = try? files.status(at: path), let own = try? files.status(of: file) else { return false }
        return named.inode == own.inode
    }

    private func refuse() -> Int64? {
        state.withLock { $0.statistics.refusals += 1 }
        logger.notice("the beginning of a body is not kept any further: there is no room for it")
        return nil
    }

    func noteBegin(_ key: CacheKey) { state.withLock { _ = $0.known?.insert(EntryID(key)) } }

    func noteEnd(_ key: CacheKey) { state.withLock { _ = $0.known?.remove(EntryID(key)) } }

    func note(_ fault: FileFault, _ path: String) {
        logger.warning("\(fault.writeError("the beginning of a body cannot be kept", at: path))")
        state.withLock { $0.statistics.faults += 1 }
    }
}
