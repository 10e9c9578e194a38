import NIOCore

/// The commands of one connection that wait for answers. A pure value.
///
/// Answers come in the order of the commands. A command whose time is over keeps its place, so that its late answer is
/// recognised and thrown away instead of being given to the next.
struct PendingCommands<Reply> {
    private struct Entry {
        var deadline: NIODeadline
        /// Nil once the command's time is over.
        var reply: Reply?
    }

    private let most: Int
    /// Written commands, the oldest first.
    private var written = CircularBuffer<Entry>()
    /// Those that wait for a connection.
    private var unwritten = CircularBuffer<(entry: Entry, bytes: ByteBuffer)>()
    /// Answers that came too late.
    private(set) var lateCount = 0

    /// - Parameter most: commands that may wait, also those whose time is over and whose answers are still to come.
    init(most: Int) { self.most = most }

    var count: Int { written.count + unwritten.count }
    var isFull: Bool { count >= most }

    /// Adds a command whose bytes are written now.
    mutating func addWritten(_ reply: Reply, until deadline: NIODeadline) {
        written.append(Entry(deadline: deadline, reply: reply))
    }

    /// Adds a command that waits for a connection.
    mutating func addUnwritten(_ reply: Reply, _ bytes: ByteBuffer, until deadline: NIODeadline) {
        unwritten.append((Entry(deadline: deadline, reply: reply), bytes))
    }

    /// The bytes of the commands that have waited for a connection. They count as written.
    mutating func writeWaiting() -> [ByteBuffer] {
        defer { unwritten.removeAll() }
        return unwritten.map { entry, bytes in
            written.append(entry)
            return bytes
        }
    }

    /// Whose answer has come.
    enum Owner {
        case command(Reply)
        case late
        /// Nobody waits for an answer.
        case nobody
    }

    mutating func takeAnswer() -> Owner {
        guard let entry = written.popFirst() else { return .nobody }
        guard let reply = entry.reply else {
            lateCount += 1
            return .late
        }
        return .command(reply)
    }

    /// Commands whose time is over. Those that were not written never will be.
    mutating func expire(at now: NIODeadline) -> [Reply] {
        var expired: [Reply] = []
        for index in written.indices where written[index].deadline <= now {
            guard let reply = written[index].reply else { continue }
            expired.append(reply)
            written[index].reply = nil
        }
        while let first = unwritten.first, first.entry.deadline <= now {
            expired += [unwritten.removeFirst().entry.reply].compactMap { $0 }
        }
        return expired
    }

    /// When the next command's time is over.
    var nextDeadline: NIODeadline? {
        let first = written.first { $0.reply != nil }?.deadline
        let waiting = unwritten.first?.entry.deadline
        guard let first, let waiting else { return first ?? waiting }
        return min(first, waiting)
    }

    /// Since when the oldest command has been too late; nil where none is.
    var lateSince: NIODeadline? {
        guard let first = written.first, first.reply == nil else { return nil }
        return first.deadline
    }

    /// The connection is lost: no answer comes to what was written, and what was not is not tried again.
    mutating func loseAll() -> [Reply] {
        defer {
            written.removeAll()
            unwritten.removeAll()
        }
        return written.compactMap(\.reply) + unwritten.compactMap(\.entry.reply)
    }
}
