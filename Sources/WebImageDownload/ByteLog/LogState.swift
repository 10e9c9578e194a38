import WebImageCore

/// A piece of a log's bytes in memory.
struct LogPiece {
    let storage: ByteStorage
    /// The position of the piece in the log.
    let offset: Int
    var count: Int
    /// False if the bytes are to be written to the file.
    let isResident: Bool
    /// True while it counts against the budget.
    var isCharged = false
    /// True if nothing will be added although there is room.
    var isSealed = false
    /// True if an earlier part of this piece has been published.
    var isContinued = false

    var end: Int { offset + count }
    var isFinal: Bool { isSealed || count == storage.capacity }
}

/// The state that readers and the spill share with the writer: resident pieces, then the file, then pieces that are
/// being written to the file. The file is the log's own, or the one that the bytes came from.
struct LogState {
    struct Waiter {
        enum Condition {
            case byte(at: Int)
            case head
            case end
        }

        let id: Int
        let condition: Condition
        let run: @Sendable () -> Void
    }

    var head: ResponseHead?
    var expectedLength: Int?
    /// How many bytes readers may read.
    var count = 0
    var end: ByteLog.End?
    /// The log that replaces this one with another body; set when the log ends.
    var successor: ByteLog?

    var resident: [LogPiece] = []
    /// The first piece still in memory is at `pendingStart`; earlier ones have been written and freed.
    private var pending: [LogPiece] = []
    private var pendingStart = 0
    private(set) var file: LogFile?
    /// How many of the log's bytes are in the file; they follow `resident`.
    private(set) var fileCount = 0
    /// The position in the file of the first of them.
    private var fileStart = 0
    private(set) var fault: FileFault?
    private var isSpilling = false

    private var waiters: [Waiter] = []
    private var nextWaiter = 0

    var residentEnd: Int { resident.last?.end ?? 0 }
    var pendingCount: Int { pending[pendingStart...].reduce(0) { $0 + $1.count } }
    var chargedBytes: Int {
        var bytes = 0
        for piece in resident where piece.isCharged { bytes += piece.storage.capacity }
        for piece in pending[pendingStart...] where piece.isCharged { bytes += piece.storage.capacity }
        return bytes
    }

    // MARK: From the writer

    mutating func adopt(_ pieces: [LogPiece]) {
        // For a small body, uses the writer's own piece instead of another array.
        if resident.isEmpty, pieces.count == 1, pieces[0].isResident, pieces[0].count > 0 {
            resident = pieces
            return
        }
        for piece in pieces where piece.count > 0 {
            if piece.isResident {
                Self.put(piece, into: &resident)
            } else {
                Self.put(piece, into: &pending)
            }
        }
    }

    /// Records bytes that the source file has; they follow `resident`. No bytes are being written to another file.
    mutating func adopt(_ source: LogFile, count: Int) {
        if file == nil { (file, fileStart) = (source, residentEnd) }
        fileCount += count
    }

    private static func put(_ piece: LogPiece, into pieces: inout [LogPiece]) {
        if let last = pieces.last, last.storage === piece.storage {
            pieces[pieces.count - 1].count = piece.count
            pieces[pieces.count - 1].isSealed = piece.isSealed
        } else {
            pieces.append(piece)
        }
    }

    // MARK: From the spill

    /// Returns true if there is something to write and no thread is writing; the caller must then write.
    mutating func claimSpill() -> Bool {
        guard !isSpilling, fault == nil, nextToWrite != nil else { return false }
        isSpilling = true
        return true
    }

    private var nextToWrite: LogPiece? {
        guard pendingStart < pending.count, pending[pendingStart].isFinal else { return nil }
        return pending[pendingStart]
    }

    /// The next piece to write and its position in the file; nil if there is nothing to write.
    mutating func pieceToWrite() -> (piece: LogPiece, offset: Int)? {
        guard let piece = nextToWrite else {
            isSpilling = false
            return nil
        }
        return (piece, fileCount)
    }

    /// Records that a piece was written. Returns the number of bytes that no longer count against the budget.
    mutating func didWrite(_ piece: LogPiece, to file: LogFile) -> Int {
        self.file = file
        fileCount += piece.count
        pendingStart += 1
        if pendingStart >= 32, pendingStart * 2 > pending.count {
            pending.removeFirst(pendingStart)
            pendingStart = 0
        } else {
            // Keeps only the position of the piece, and frees its bytes.
            pending[pendingStart - 1] = LogPiece(
                storage: Self.nothing, offset: piece.offset, count: 0, isResident: false)
        }
        return piece.isCharged ? piece.storage.capacity : 0
    }

    private static let nothing = ByteStorage(capacity: 0)

    /// Records that the disk failed: bytes in memory stay there, and no longer count against the budget. Returns the
    /// number of bytes that counted.
    mutating func didFail(_ fault: FileFault) -> Int {
        self.fault = fault
        isSpilling = false
        return releaseCharges()
    }

    /// After the disk failed, takes all pending bytes off the budget, including those charged before the writer noticed
    /// the failure. Returns their number.
    mutating func releaseCharges() -> Int {
        guard fault != nil else { return 0 }
        var freed = 0
        for index in pending.indices[pendingStart...] where pending[index].isCharged {
            freed += pending[index].storage.capacity
            pending[index].isCharged = false
        }
        return freed
    }

    // MARK: From readers

    enum Place {
        case memory(ByteChunk)
        case file(LogFile, offset: Int, count: Int)
        case nothing
    }

    func place(of offset: Int) -> Place {
        guard offset >= 0, offset < count else { return .nothing }
        if offset < residentEnd { return .memory(Self.chunk(at: offset, in: resident[...])) }
        let inFile = offset - residentEnd
        if inFile < fileCount, let file {
            return .file(file, offset: fileStart + inFile, count: fileCount - inFile)
        }
        return .memory(Self.chunk(at: offset, in: pending[pendingStart...]))
    }

    private static func chunk(at offset: Int, in pieces: ArraySlice<LogPiece>) -> ByteChunk {
        var (low, high) = (pieces.startIndex, pieces.endIndex)
        while high - low > 1 {
            let middle = (low + high) / 2
            if pieces[middle].offset <= offset { low = middle } else { high = middle }
        }
        let piece = pieces[low]
        return ByteChunk(storage: piece.storage, start: offset - piece.offset, range: offset..<piece.end)
    }

    // MARK: Waiting

    func isMet(_ condition: Waiter.Condition) -> Bool {
        if end != nil { return true }
        return switch condition {
        case .byte(let offset): offset < count
        case .head: head != nil
        case .end: false
        }
    }

    mutating func wait(for condition: Waiter.Condition, _ run: @escaping @Sendable () -> Void) -> Int {
        nextWaiter += 1
        waiters.append(Waiter(id: nextWaiter, condition: condition, run: run))
        return nextWaiter
    }

    mutating func removeWaiter(_ id: Int) { waiters.removeAll { $0.id == id } }

    mutating func takeReady() -> [Waiter] {
        if waiters.isEmpty { return [] }
        if end != nil {
            defer { waiters = [] }
            return waiters
        }
        var ready: [Waiter] = []
        var left: [Waiter] = []
        for waiter in waiters {
            if isMet(waiter.condition) { ready.append(waiter) } else { left.append(waiter) }
        }
        waiters = left
        return ready
    }
}
