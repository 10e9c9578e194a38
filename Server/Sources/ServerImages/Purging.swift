public import FleetCoordination
public import Logging
import RedisClient
public import ServerGrammar
import Synchronization
public import WebImage

/// Tracks what was purged on this server or in its fleet, for the code that makes and serves pictures. Any thread may
/// use it.
///
/// Nothing is deleted when something is purged. A result holds the time at which the work on it began, and is not
/// served if a purge that concerns it is as recent or more recent. Originals are cached under names that include the
/// last purge of their source, so that older ones are no longer found.
public final class Purging: Sendable {

    /// The list of purges that this server followed last, which it remembers over restarts.
    private struct Followed {
        var list: String
        /// Whether its cached originals may be older than the list, so that purges of before are unknown.
        var isNewer: Bool

        init(list: String, isNewer: Bool) { (self.list, self.isNewer) = (list, isNewer) }

        init(text: String) {
            let words = text.split(separator: " ").map(String.init)
            self.init(list: words.first ?? "", isNewer: words.last != "whole")
        }

        var text: String { "\(list) \(isNewer ? "newer" : "whole")" }
    }

    private struct Asked {
        var floor = 0
        var sources: Set<UInt64> = []
    }

    /// Nil if this server is alone.
    public let fleet: Fleet?
    private let book: PurgeBook
    /// Where this server stores its purges, or in a fleet those that Redis has not received.
    private let file: DiskCache?
    /// The last work with ``file``. Each one waits for the one before.
    private let working = Mutex<Task<Void, Never>?>(nil)
    /// A write that has not begun, so that it will contain all purges that are added by then.
    private let nextWrite = Mutex<Task<Bool, Never>?>(nil)
    /// The list as this server wrote it last; empty: it has not. Changed only by work in turn.
    private let lastWritten = Mutex<[UInt8]>([])
    /// Whether ``file`` may have purges of a fleet that Redis had not received.
    private let keepsUnsent = Atomic(false)
    /// Nil: this server has never followed a list.
    private let followed = Mutex<Followed?>(nil)
    /// Whether cached originals may come from other servers.
    private let sharesOriginals: Bool
    private let now: @Sendable () -> Int
    private let onPurge: @Sendable () -> Void
    /// The time of the newest purge for which ``onPurge`` was called.
    private let noticed = Atomic(0)
    /// The highest time that was given for the beginning of work, without a fleet. A purge is not earlier, even if the
    /// clock was set back.
    private let lastStamp = Atomic(0)
    private let asked = Mutex(Asked())
    private let count = Mutex(0)
    private let logger: Logger

    private static let maxPurges = 100_000
    private static let maxAsked = 100_000
    private static let key = CacheKey("purges")
    private static let unsentKey = CacheKey("unsent purges")
    private static let followedKey = CacheKey("list of purges")
    /// For how many seconds a server that has lost its fleet uses a result without asking the origin.
    static let longestSilence = 60

    /// - Parameters:
    ///   - fleet: nil: this server is alone.
    ///   - file: where this server stores its purges, or in a fleet those that Redis has not received; nil: in memory
    ///     only, like the results.
    ///   - sharesOriginals: whether cached originals may come from other servers.
    ///   - now: returns seconds since 1970.
    ///   - onPurge: called when something is purged here, and before the first load that follows a purge of another
    ///     server.
    public init(
        fleet: Fleet?, file: DiskCache?, sharesOriginals: Bool = false, now: @escaping @Sendable () -> Int,
        onPurge: @escaping @Sendable () -> Void = {}, logger: Logger
    ) {
        self.fleet = fleet
        self.file = file
        self.sharesOriginals = sharesOriginals
        self.now = now
        self.onPurge = onPurge
        self.logger = logger
        book = fleet?.purges ?? PurgeBook()
    }

    /// Reads the stored purges. Call it before anything is served.
    public func restore() async {
        guard let file else { return }
        do throws(WebImageError) {
            if fleet != nil, let entry = try await file.read(Self.followedKey) {
                followed.withLock { $0 = Followed(text: String(decoding: entry.body, as: UTF8.self)) }
            }
            guard let entry = try await file.read(fleet == nil ? Self.key : Self.unsentKey) else { return }
            let text = String(decoding: entry.body, as: UTF8.self)
            if let fleet {
                keepsUnsent.store(true, ordering: .relaxed)
                fleet.restore(unsent: text)
            } else {
                book.replace(PurgeTable(text: text))
            }
        } catch {
            // The stored purges are unknown, so that origins must confirm all older results before these are served.
            if let fleet {
                fleet.restore(unsent: nil)
                followed.withLock { $0 = Followed(list: "", isNewer: true) }
            } else {
                var table = PurgeTable()
                table.raiseFloor(to: now() * 1000)
                book.replace(table)
            }
            logger.error("the list of purges cannot be read: \(error)")
        }
    }

    /// Keeps this server in touch with its fleet until the task is cancelled. Returns at once without a fleet.
    public func followFleet() async {
        await fleet?.run {
            await keepUnsent()
            await noteList()
        }
    }

    /// How many purges this server was asked for.
    public var purgeCount: Int { count.withLock { $0 } }

    /// The value of ``StoredResult/begun`` for work that begins now.
    var stamp: Int {
        if let fleet { return fleet.stamp }
        let stamp = max(now() * 1000, book.latest + 1)
        lastStamp.max(stamp, ordering: .relaxed)
        return stamp
    }

    /// Whether a cached result of a source may be served.
    func verdict(_ result: StoredResult, _ source: String) -> PurgeTable.Verdict {
        let verdict = book.verdict(source: source, tags: result.tags, begun: result.begun)
        guard let fleet, verdict != .purged, !fleet.isInTouch else { return verdict }
        return now() - result.checkedAt < Self.longestSilence ? .current : .unsure
    }

    // MARK: - Originals

    /// The time of the last purge that concerns a source; 0: never.
    package func lastPurge(_ source: String, tags: [UInt64] = []) -> Int { book.lastPurge(source: source, tags: tags) }

    /// Makes a load ignore what was cached before the purge.
    public func prepare(_ request: inout ImageRequest, _ source: String, lastPurge: Int? = nil) {
        let newest = book.latest
        if noticed.exchange(newest, ordering: .relaxed) != newest { onPurge() }
        let last = lastPurge ?? self.lastPurge(source)
        if last > 0 {
            let name = request.options.caching.key ?? SourceRequest.key(source)
            request.options.caching.key = "\(name)\npurged \(last)"
        }
        // Cached originals may have been purged if this server has been without news of purges for long.
        if isToBeAsked(source) || fleet?.isInTouch == false { request.options.caching.policy = .revalidate }
    }

    /// Loads a source, ignoring what was cached before the purge. A cached original that was purged by one of its tags,
    /// which are not known before it is read, is loaded again.
    ///
    /// - Parameter load: loads the request; also returns the head of the origin's answer and where it was found.
    public func load<Loaded, Failure: Error>(
        _ request: ImageRequest, _ source: String,
        _ load: (ImageRequest) async throws(Failure) -> (Loaded, head: ResponseHead?, from: ImageSource)
    ) async throws(Failure) -> Loaded {
        var last = lastPurge(source)
        while true {
            var prepared = request
            prepare(&prepared, source, lastPurge: last)
            let (loaded, head, place) = try await load(prepared)
            let newest = lastPurge(source, tags: SourceTags.hashes(of: head))
            if place == .network || newest <= last { return loaded }
            last = newest
        }
    }

    /// Whether the origin must first confirm that the cached source is unchanged, because purges may have been missed.
    private func isToBeAsked(_ source: String) -> Bool {
        let floor = book.floor
        guard floor > 0, mayHaveOriginals(from: floor) else { return false }
        return asked.withLock { asked in
            if asked.floor != floor { asked = Asked(floor: floor) }
            return !asked.sources.contains(StableHash.of(source))
        }
    }

    /// Whether a cached original may be from `floor` or before.
    private func mayHaveOriginals(from floor: Int) -> Bool {
        guard let list = fleet?.list, floor <= list.created, !sharesOriginals else { return true }
        // If this server has followed no other list, all its originals are of this list's time.
        return followed.withLock { $0.map { $0.list != list.name || $0.isNewer } ?? false }
    }

    /// Records that the source was loaded as ``prepare(_:_:lastPurge:)`` demands.
    func noteLoaded(_ source: String) {
        let floor = book.floor
        guard floor > 0 else { return }
        asked.withLock { asked in
            guard asked.floor == floor else { return }
            if asked.sources.count >= Self.maxAsked { asked.sources = [] }
            asked.sources.insert(StableHash.of(source))
        }
    }

    // MARK: - Purges

    /// Purges on all servers of the fleet.
    ///
    /// - Parameter onlyHere: whether only this server purges now. The others are told as soon as possible.
    /// - Throws: 503 if Redis did not confirm the purge, or if the purge is not stored on disk, so that it is forgotten when the
    ///   server ends. The text of the refusal states which.
    public func purge(_ purges: [Purge], onlyHere: Bool) async throws(RequestRefusal) {
        var isKept = true
        if let fleet {
            if onlyHere {
                fleet.purgeHere(purges)
                isKept = await keep()
            } else {
                do throws(RedisError) {
                    try await fleet.purge(purges)
                } catch {
                    throw .overloaded(Self.text(error))
                }
            }
        } else {
            let time = max(now() * 1000, lastStamp.load(ordering: .relaxed))
            for purge in purges { book.add(purge, now: time) }
            book.trim(to: Self.maxPurges)
            isKept = await keep()
        }
        count.withLock { $0 += purges.count }
        onPurge()
        if !isKept { throw .overloaded("it was purged, but that is forgotten when the server ends: repeat the purge") }
    }

    private static func text(_ error: RedisError) -> String {
        error.isUnsent
            ? "Redis cannot be told of a purge, so nothing was purged: \(error)"
            : "it is not known whether the purge happened, so repeat it: \(error)"
    }

    /// Removes purges from the file that Redis has received by now.
    private func keepUnsent() async {
        if keepsUnsent.load(ordering: .relaxed), fleet?.unsent.isEmpty == true { _ = await keep() }
    }

    /// Remembers which list of purges this server follows.
    private func noteList() async {
        guard let list = fleet?.list else { return }
        let followed = followed.withLock { followed -> Followed? in
            guard followed?.list != list.name else { return nil }
            followed = Followed(list: list.name, isNewer: followed != nil)
            return followed
        }
        guard let followed else { return }
        await inTurn { [self] file in
            do throws(WebImageError) {
                try await file.store(Self.followedKey, Array(followed.text.utf8), DiskMetadata())
                try await file.flush()
            } catch {
                logger.error("the list of purges that is followed cannot be stored: \(error)")
            }
        }
    }

    /// Stores the purges as they are when earlier calls have stored theirs. Calls that wait for an earlier one share
    /// one write.
    ///
    /// - Returns: false if they could not be stored.
    private func keep() async -> Bool {
        guard file != nil else { return true }
        let shared = nextWrite.withLock { next in
            if let next { return next }
            let shared = Task { [self] in
                let isStored = Atomic(true)
                await inTurn { [self] file in
                    nextWrite.withLock { $0 = nil }
                    isStored.store(await write(file), ordering: .relaxed)
                }
                return isStored.load(ordering: .relaxed)
            }
            next = shared
            return shared
        }
        return await shared.value
    }

    /// Does work with the file, if there is one, after all work that was begun before.
    private func inTurn(_ work: @escaping @Sendable (DiskCache) async -> Void) async {
        guard let file else { return }
        let task = working.withLock { working in
            let task = Task { [before = working] in
                await before?.value
                await work(file)
            }
            working = task
            return task
        }
        await task.value
    }

    private func write(_ file: DiskCache) async -> Bool {
        do throws(WebImageError) {
            if let fleet {
                let unsent = fleet.unsent
                keepsUnsent.store(!unsent.isEmpty, ordering: .relaxed)
                if unsent.isEmpty {
                    _ = try await file.remove(Self.unsentKey)
                } else {
                    try await file.store(Self.unsentKey, Array(unsent.utf8), DiskMetadata())
                }
            } else {
                await takeOthers(from: file)
                let list = Array(book.text.utf8)
                try await file.store(Self.key, list, DiskMetadata())
                lastWritten.withLock { $0 = list }
            }
            try await file.flush()
            return true
        } catch {
            logger.error("a purge is forgotten when the server ends: \(error)")
            return false
        }
    }

    /// Adds purges that another process has stored. It may use the same folder while this server replaces it, or is
    /// replaced.
    private func takeOthers(from file: DiskCache) async {
        do throws(WebImageError) {
            guard let stored = try await file.read(Self.key)?.body, lastWritten.withLock({ $0 != stored }) else {
                return
            }
            book.merge(PurgeTable(text: String(decoding: stored, as: UTF8.self)))
            // The stored ones may be those that were just forgotten, because there were too many.
            book.trim(to: Self.maxPurges)
        } catch {
            // As after a restart: origins must confirm all older results.
            book.raiseFloor(to: now() * 1000)
            logger.error("the stored list of purges cannot be read, and is replaced: \(error)")
        }
    }
}
