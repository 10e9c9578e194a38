package import WebImageCore
import Synchronization
import WebImageSystem

/// The bytes of one transfer as they arrive: appended by one writer; read by any number of readers, each at its own
/// pace from any offset, also long after the bytes arrived.
///
/// The first ``Settings/memoryLimit`` bytes stay in memory. Later bytes, or those that arrive while all logs together
/// hold too much, go to a temporary file without a name, written on the I/O executor. A slow reader therefore costs no
/// memory, and does not slow down the transfer. Bytes that come from a file are read from that file again.
package final class ByteLog: @unchecked Sendable {
    // Sendable: `writer` belongs to the one writer; everything else is constant or guarded by `state`.

    /// How a log ends. The bytes before a failure are valid.
    package enum End: Sendable {
        case complete
        case failed(WebImageError)
    }

    /// The answer to a writer that has appended bytes.
    package enum AppendResult: Sendable {
        case proceed
        /// The bytes were taken, but all logs together hold too much: wait until the budget is below its limit.
        case pause
        /// The bytes can be kept neither in memory nor on disk.
        case full(WebImageError)
    }

    package struct Settings: Sendable {
        /// How many bytes stay in memory as long as the log lives. Default 4 MiB.
        package var memoryLimit = 4 << 20
        /// How many bytes may stay in memory beyond ``memoryLimit`` if the disk fails; all logs together have a limit, too
        /// (``TransferMemoryBudget``). Default 16 MiB.
        package var emergencyLimit = 16 << 20
        /// The directory of the temporary file. Default `/tmp`.
        package var directory = "/tmp"

        package init() {}
    }

    static let pieceSize = 64 << 10
    private static let firstPieceSize = 16 << 10
    private static let publishSize = 256 << 10
    static let fileReadSize = 256 << 10

    /// The state that only the writer uses between two calls of ``publish()``.
    private struct Writer {
        var fresh: [LogPiece] = []
        /// The file that the bytes come from, if there is one.
        var source: LogFile?
        /// How many bytes after `fresh` are only in that file.
        var inSource = 0
        var isInSource = false
        var head: ResponseHead?
        var expectedLength: Int?
        var count = 0
        var publishedCount = 0
        var isSpilling = false
        var hasFault = false
        var pendingCount = 0
        /// How many bytes stay in memory because the disk fails.
        var stranded = 0
    }

    let state = Guarded(LogState())
    // Unchecked: there is only one writer at a time, and the check would cost time with each piece.
    @exclusivity(unchecked) private var writer = Writer()
    private let settings: Settings
    private let budget: TransferMemoryBudget?
    let spill: LogSpill?
    /// An object that lives as long as the log, such as a share of a budget.
    private let lease: (any Sendable & AnyObject)?
    private let companions = Guarded<[any Sendable & AnyObject]>([])

    /// Returns the object that all users of the bytes share as long as the log lives, such as a record of who stores
    /// the bytes.
    ///
    /// - Parameters:
    ///   - isWanted: chooses one of the objects of this type.
    ///   - make: makes it, if there is none.
    package func companion<Companion: Sendable & AnyObject>(
        where isWanted: (Companion) -> Bool, or make: () -> Companion
    ) -> Companion {
        companions.withLock { companions in
            for case let companion as Companion in companions where isWanted(companion) { return companion }
            let companion = make()
            companions.append(companion)
            return companion
        }
    }

    /// - Parameters:
    ///   - files: the file system for the temporary file; its calls run on `executor`, reads on the reader's thread.
    package init(
        settings: Settings = Settings(), budget: TransferMemoryBudget, files: any FileSystem, executor: any WorkExecutor
    ) {
        self.settings = settings
        self.budget = budget
        lease = nil
        spill = LogSpill(files: files, executor: executor, directory: settings.directory)
    }

    /// An empty log with the settings of another one.
    init(like other: ByteLog) {
        settings = other.settings
        budget = other.budget
        spill = other.spill
        lease = nil
    }

    /// A complete log of existing bytes, which are not copied; it stays in memory and does not count against a budget.
    ///
    /// - Parameter lease: lives as long as the log.
    package init(bytes: [UInt8], head: ResponseHead? = nil, lease: (any Sendable & AnyObject)? = nil) {
        settings = Settings()
        budget = nil
        spill = nil
        self.lease = lease
        let storage = ByteStorage(bytes)
        state.withLock { state in
            state.head = head
            state.expectedLength = bytes.count
            state.count = bytes.count
            if !bytes.isEmpty {
                state.resident = [LogPiece(storage: storage, offset: 0, count: bytes.count, isResident: true)]
            }
            state.end = .complete
        }
    }

    /// A log that ended before its first byte.
    package init(failed error: WebImageError) {
        settings = Settings()
        budget = nil
        spill = nil
        lease = nil
        state.withLock { $0.end = .failed(error) }
    }

    deinit {
        let charged = state.withLock { $0.chargedBytes }
        let unpublished = writer.fresh.reduce(0) { $0 + ($1.isContinued || !$1.isCharged ? 0 : $1.storage.capacity) }
        budget?.give(charged + unpublished)
        if writer.stranded > 0 { budget?.unstrand(writer.stranded) }
    }

    // MARK: Writing. One thread at a time; readers see nothing before `publish`.

    /// Sets the head and the length that are known before the first byte.
    package func setHead(_ head: ResponseHead?, expectedLength: Int?) {
        writer.head = head
        writer.expectedLength = expectedLength
    }

    /// Copies `bytes` to the end.
    package func append(_ bytes: UnsafeRawBufferPointer) -> AppendResult {
        var rest = bytes
        while let source = rest.baseAddress, rest.count > 0 {
            let last = tail(for: rest.count)
            let piece = writer.fresh[last]
            let room = min(piece.storage.capacity - piece.count, rest.count)
            (piece.storage.base + piece.count).copyMemory(from: source, byteCount: room)
            writer.fresh[last].count += room
            writer.count += room
            rest = UnsafeRawBufferPointer(rebasing: rest[room...])
        }
        if writer.count - writer.publishedCount >= Self.publishSize { publish() }
        guard writer.isSpilling else { return .proceed }
        return spillFlow()
    }

    /// Appends the next bytes of a file; all bytes before them must be from the same file. Memory keeps as many as it
    /// has room for. The others are read from the file again, which the system's page cache should hold by then.
    func append(_ bytes: UnsafeRawBufferPointer, of file: LogFile) {
        writer.source = file
        let kept = roomInMemory(for: bytes.count)
        if kept > 0 { _ = append(UnsafeRawBufferPointer(rebasing: bytes[..<kept])) }
        if kept < bytes.count { leaveInSource(bytes.count - kept) }
    }

    private func roomInMemory(for count: Int) -> Int {
        if writer.isInSource || budget?.mayKeepMore == false { return 0 }
        return min(count, max(settings.memoryLimit - writer.count, 0))
    }

    private func leaveInSource(_ count: Int) {
        if let last = writer.fresh.indices.last { writer.fresh[last].isSealed = true }
        writer.isInSource = true
        writer.inSource += count
        writer.count += count
    }

    /// Makes the appended bytes visible to readers, and wakes those that wait for them.
    package func publish() { publish(end: nil) }

    /// Publishes the appended bytes, and ends the log. Later calls do nothing.
    package func finish(_ end: End) { publish(end: end) }

    /// Ends the log with the bytes that are published. May be called on any thread, also while the writer writes: bytes
    /// that are appended later are dropped.
    package func abort(_ error: WebImageError) {
        let ready = state.withLock { state -> [LogState.Waiter] in
            guard state.end == nil else { return [] }
            state.end = .failed(error)
            return state.takeReady()
        }
        for waiter in ready { waiter.run() }
    }

    /// The index in `writer.fresh` of a piece with room for more bytes.
    private func tail(for wanted: Int) -> Int {
        if let last = writer.fresh.last, last.count < last.storage.capacity, !last.isSealed {
            return writer.fresh.count - 1
        }
        let storage = ByteStorage(capacity: capacity(for: wanted))
        let isCharged = budget != nil && !writer.hasFault
        let mayKeep = isCharged ? budget?.take(storage.capacity) ?? true : budget == nil
        // Bytes that are in a source file are not written to another.
        let maySpill = spill != nil && writer.source == nil
        if !mayKeep || writer.count >= settings.memoryLimit { writer.isSpilling = maySpill }
        writer.fresh.append(
            LogPiece(
                storage: storage, offset: writer.count, count: 0, isResident: !writer.isSpilling, isCharged: isCharged))
        return writer.fresh.count - 1
    }

    private func capacity(for wanted: Int) -> Int {
        if let expected = writer.expectedLength, expected > writer.count {
            return min(expected - writer.count, Self.pieceSize)
        }
        return writer.count == 0 ? max(Self.firstPieceSize, min(wanted, Self.pieceSize)) : Self.pieceSize
    }

    /// What the writer must do while its bytes go to the file.
    private func spillFlow() -> AppendResult {
        if writer.hasFault, !strand(writer.pendingCount + writer.count - writer.publishedCount) {
            publish()
            let fault = state.withLock { $0.fault }
            return .full(LogSpill.error(for: fault))
        }
        guard !writer.hasFault, budget?.isOver == true else { return .proceed }
        if let last = writer.fresh.indices.last { writer.fresh[last].isSealed = true }
        publish()
        // If the file has failed, waiting would not make room.
        return writer.hasFault ? .proceed : .pause
    }

    /// Reserves memory for `count` bytes that the failing disk could not take. Returns false if there is too little.
    private func strand(_ count: Int) -> Bool {
        guard count <= settings.emergencyLimit else { return false }
        let more = count - writer.stranded
        guard more > 0, let budget else { return true }
        guard budget.strand(more) else { return false }
        writer.stranded = count
        return true
    }

    private func publish(end: End?) {
        if end != nil, let last = writer.fresh.indices.last { writer.fresh[last].isSealed = true }
        typealias Outcome = (ready: [LogState.Waiter], startSpill: Bool, freed: Int)
        let outcome = state.withLock { state -> Outcome? in
            guard state.end == nil else { return nil }
            if let head = writer.head { state.head = head }
            if let expected = writer.expectedLength { state.expectedLength = expected }
            state.adopt(writer.fresh)
            if let source = writer.source, writer.inSource > 0 { state.adopt(source, count: writer.inSource) }
            state.count = writer.count
            if let end { state.end = end }
            writer.hasFault = state.fault != nil
            writer.pendingCount = state.pendingCount
            return (state.takeReady(), state.claimSpill(), state.releaseCharges())
        }
        // The log was ended by `abort`: bytes that were not published are freed with the log.
        guard let (ready, startSpill, freed) = outcome else { return }
        if freed > 0 { budget?.give(freed) }
        writer.head = nil
        writer.inSource = 0
        writer.publishedCount = writer.count
        // The last piece may still grow; `adopt` recognizes its published part by its storage.
        if let last = writer.fresh.last, !last.isSealed, last.count < last.storage.capacity {
            if writer.fresh.count > 1 { writer.fresh.removeFirst(writer.fresh.count - 1) }
            writer.fresh[0].isContinued = true
        } else {
            writer.fresh = []
        }
        if startSpill, let spill { spill.start(self, budget: budget) }
        for waiter in ready { waiter.run() }
    }
}
