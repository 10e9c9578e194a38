import WebImageCore

/// A piece of a file of the index. Little-endian:
///
/// | size | what |
/// |---|---|
/// | 4 | `WIX` and the kind |
/// | 4 | length of what follows, without the checksum |
/// | … | by kind |
/// | 8 | XXH3-64 of all before it |
enum IndexFrame: Hashable {
    struct Use: Hashable {
        let id: EntryPrefix
        let date: Int64
    }

    /// New and changed entries of a directory, and removed ones; all entries if the file had none of that directory.
    case change(Int, IndexStamp, [DiskIndex.Record], removed: [EntryID])
    /// Later dates of use.
    case uses([Use])
    /// Hits and misses, added to the earlier ones.
    case counts(DiskCounts)

    private static let headLength = 8
    private static let checksumLength = 8
    private static let recordLength = 72
    private static let idLength = 32
    private static let useLength = 24

    private static let changeLength = 28

    /// The length of a directory with `records` entries in a file without outdated frames.
    static func length(records: Int) -> Int {
        headLength + changeLength + records * recordLength + checksumLength
    }

    /// The length of the frame in the file.
    var length: Int {
        switch self {
        case .change(_, _, let records, let removed):
            Self.length(records: records.count) + removed.count * Self.idLength
        case .uses(let uses): Self.headLength + uses.count * Self.useLength + Self.checksumLength
        case .counts: Self.headLength + 16 + Self.checksumLength
        }
    }

    private var kind: UInt8 {
        switch self {
        case .change: 1
        case .uses: 2
        case .counts: 3
        }
    }

    func encode(to out: inout ByteWriter) {
        var content = ByteWriter()
        switch self {
        case .change(let shard, let stamp, let records, let removed):
            content.integer(UInt32(shard))
            content.integer(stamp.modified)
            content.integer(stamp.inode)
            content.integer(UInt32(records.count))
            content.integer(UInt32(removed.count))
            for record in records {
                Self.encode(record.id, to: &content)
                for number in [record.bytes, record.length, record.date, record.recordedDate, record.expires] {
                    content.integer(number)
                }
            }
            for id in removed { Self.encode(id, to: &content) }
        case .uses(let uses):
            for use in uses {
                content.integer(use.id.words.x)
                content.integer(use.id.words.y)
                content.integer(use.date)
            }
        case .counts(let counts):
            content.integer(counts.hits)
            content.integer(counts.misses)
        }
        let begin = out.bytes.count
        out.integer(Self.magic | UInt32(kind) << 24)
        out.integer(UInt32(content.bytes.count))
        out.append(content.bytes)
        out.integer(out.checksum(from: begin))
    }

    /// `WIX`.
    private static let magic: UInt32 = 0x58_4957

    private static func encode(_ id: EntryID, to out: inout ByteWriter) {
        for word in [id.words.0, id.words.1, id.words.2, id.words.3] { out.integer(word) }
    }

    /// - Returns: the frame at that position, and the position of the next one; nil if it is invalid.
    static func decode(_ file: UnsafeRawBufferPointer, at start: Int) -> (frame: IndexFrame, end: Int)? {
        var reader = ByteReader(bytes: UnsafeRawBufferPointer(rebasing: file[start...]))
        guard let head = reader.integer(UInt32.self), head & 0xFF_FFFF == magic,
            let length = reader.integer(UInt32.self), let content = reader.bytes(Int(length)),
            let checksum = reader.integer(UInt64.self)
        else { return nil }
        let end = start + headLength + Int(length)
        guard checksum == Checksum.of(UnsafeRawBufferPointer(rebasing: file[start..<end])) else { return nil }
        let frame: IndexFrame? =
            switch head >> 24 {
            case 1: change(content)
            case 2: uses(content)
            case 3: counts(content)
            default: nil
            }
        return frame.map { ($0, end + checksumLength) }
    }

    private static func change(_ content: UnsafeRawBufferPointer) -> IndexFrame? {
        var reader = ByteReader(bytes: content)
        guard let shard = reader.integer(UInt32.self), shard < 256, let modified = reader.integer(Int64.self),
            let inode = reader.integer(UInt64.self), let count = reader.integer(UInt32.self),
            let removedCount = reader.integer(UInt32.self),
            content.count - reader.offset == Int(count) * recordLength + Int(removedCount) * idLength
        else { return nil }
        var records: [DiskIndex.Record] = []
        records.reserveCapacity(Int(count))
        var place = reader.offset
        func word() -> UInt64 {
            defer { place += 8 }
            return UInt64(littleEndian: content.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
        func number() -> Int64 { Int64(bitPattern: word()) }
        for _ in 0..<count {
            let id = EntryID(words: (word(), word(), word(), word()))
            let record = DiskIndex.Record(
                id: id, bytes: number(), length: number(), date: number(), recordedDate: number(), expires: number())
            guard id.shard == Int(shard), Self.isPlausible(record) else { return nil }
            records.append(record)
        }
        let removed = (0..<removedCount).map { _ in EntryID(words: (word(), word(), word(), word())) }
        return .change(Int(shard), IndexStamp(modified: modified, inode: inode), records, removed: removed)
    }

    /// Whether a file can have that size and these dates.
    private static func isPlausible(_ record: DiskIndex.Record) -> Bool {
        (0...FileStatus.maxBytes).contains(record.bytes) && (0...FileStatus.maxBytes).contains(record.length)
            && record.date.magnitude <= FileStatus.maxSeconds
            && record.recordedDate.magnitude <= FileStatus.maxSeconds
    }

    private static func uses(_ content: UnsafeRawBufferPointer) -> IndexFrame? {
        guard content.count % useLength == 0 else { return nil }
        let uses = stride(from: 0, to: content.count, by: useLength).map { start in
            func word(_ number: Int) -> UInt64 {
                UInt64(littleEndian: content.loadUnaligned(fromByteOffset: start + 8 * number, as: UInt64.self))
            }
            return Use(id: EntryPrefix(words: [word(0), word(1)]), date: Int64(bitPattern: word(2)))
        }
        return uses.allSatisfy { $0.date.magnitude <= FileStatus.maxSeconds } ? .uses(uses) : nil
    }

    private static func counts(_ content: UnsafeRawBufferPointer) -> IndexFrame? {
        var reader = ByteReader(bytes: content)
        // Sums with more could overflow.
        guard let hits = reader.integer(Int64.self), let misses = reader.integer(Int64.self), reader.isAtEnd,
            0...1 << 53 ~= hits, 0...1 << 53 ~= misses
        else { return nil }
        return .counts(DiskCounts(hits: hits, misses: misses))
    }
}
