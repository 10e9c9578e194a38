import WebImageCore

/// The content of one file of the index: the entries of some of the 256 directories, and hits and misses.
///
/// The file is a sequence of frames, each with a checksum: the entries of a directory, later changes of them, later
/// dates of use, and counts. Changes are appended, so that no more is written than has changed; from time to time the
/// file is rewritten without outdated frames. The first invalid frame ends it.
///
/// The file is a cache of the directory and never takes precedence over it: its records of a directory count only if
/// that directory is still the same and has the same modification time.
struct IndexFile {
    /// The entries of one directory.
    struct Shard {
        var stamp = IndexStamp.none
        fileprivate(set) var records: [DiskIndex.Record] = []
        /// The position of each record; built on demand, because most directories have not changed.
        private var places: [EntryPrefix: Int]?

        fileprivate init() {}

        private mutating func withPlaces(_ body: (inout [EntryPrefix: Int], inout [DiskIndex.Record]) -> Void) {
            var places = self.places ?? [:]
            self.places = nil
            if places.isEmpty {
                for (place, record) in records.enumerated() { places[record.id.prefix] = place }
            }
            body(&places, &records)
            self.places = places
        }

        fileprivate mutating func set(_ news: [DiskIndex.Record]) {
            guard !records.isEmpty else {
                records = news
                return
            }
            withPlaces { places, records in
                for record in news {
                    if let place = places[record.id.prefix] {
                        records[place] = record
                    } else {
                        places[record.id.prefix] = records.count
                        records.append(record)
                    }
                }
            }
        }

        fileprivate mutating func remove(_ ids: [EntryID]) {
            withPlaces { places, records in
                for id in ids {
                    guard let place = places.removeValue(forKey: id.prefix), let last = records.popLast() else {
                        continue
                    }
                    guard place < records.count else { continue }
                    records[place] = last
                    places[last.id.prefix] = place
                }
            }
        }

        fileprivate mutating func use(_ id: EntryPrefix, at date: Int64) {
            withPlaces { places, records in
                guard let place = places[id] else { return }
                records[place].date = max(records[place].date, date)
            }
        }
    }

    private(set) var shards: [Int: Shard] = [:]
    private(set) var counts = DiskCounts()
    /// How many bytes are valid.
    private(set) var length = 0

    init() {}

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            while let (frame, end) = IndexFrame.decode(bytes, at: length) {
                apply(frame)
                length = end
            }
        }
    }

    mutating func apply(_ frame: IndexFrame) {
        switch frame {
        case .change(let shard, let stamp, let news, let removed):
            // Taken out while it is changed, so that nothing is copied.
            var known = shards.removeValue(forKey: shard) ?? Shard()
            known.stamp = stamp
            if !removed.isEmpty { known.remove(removed) }
            known.set(news)
            shards[shard] = known
        case .uses(let uses):
            for use in uses {
                guard var known = shards.removeValue(forKey: use.id.shard) else { continue }
                known.use(use.id, at: use.date)
                shards[use.id.shard] = known
            }
        case .counts(let more):
            counts.hits &+= max(more.hits, 0)
            counts.misses &+= max(more.misses, 0)
        }
    }

    /// Encodes the content without outdated frames.
    func encoded() -> [UInt8] {
        var out = ByteWriter()
        if counts != DiskCounts() { IndexFrame.counts(counts).encode(to: &out) }
        for (number, shard) in shards.sorted(by: { $0.key < $1.key }) {
            IndexFrame.change(number, shard.stamp, shard.records, removed: []).encode(to: &out)
        }
        return out.bytes
    }
}

/// Hits and misses.
struct DiskCounts: Hashable {
    var hits: Int64 = 0
    var misses: Int64 = 0
}

/// Identifies the state of a directory: its inode, and its modification time in nanoseconds.
struct IndexStamp: Hashable {
    /// The stamp of a directory that does not exist.
    static let none = IndexStamp(modified: 0, inode: 0)

    var modified: Int64
    var inode: UInt64

    init(modified: Int64, inode: UInt64) { (self.modified, self.inode) = (modified, inode) }

    init(_ directory: FileStatus) {
        self.init(modified: directory.modifiedNanoseconds, inode: directory.inode)
    }
}

/// The first half of an entry's name, which identifies it.
struct EntryPrefix: Hashable {
    let words: SIMD2<UInt64>
    var shard: Int { Int(words.x >> 56) }
}

extension EntryID {
    var prefix: EntryPrefix { EntryPrefix(words: [words.0, words.1]) }
}
