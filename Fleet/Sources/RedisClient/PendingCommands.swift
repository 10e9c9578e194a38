import NIOCore

/// The commands of one connection that wait for answers. A pure value.
///
/// Answers arrive in the order of the commands. A command whose deadline has passed keeps its place, so that its late
/// answer is discarded instead of being given to the next command.
struct PendingCommands<Reply> {
    private struct Entry {
        var deadline: NIODeadline
        /// Nil after the command's deadline.
        var reply: Reply?
    }

    private let most: Int
    /// Written commands, the oldest first.
    private var written = CircularBuffer<Entry>()
    /// Commands that wait for a connection.
    private var unwritten = CircularBuffer<(entry: Entry, bytes: ByteBuffer)>()
    /// How many answers came too late.
    private(set) var lateCount = 0

    /// - Parameter most: how many commands may wait, including expired ones without an answer.
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

    /// The bytes of the commands that waited for a connection. They count as written.
    mutating func writeWaiting() -> [ByteBuffer] {
        defer { unwritten.removeAll() }
        return unwritten.map { entry, bytes in
            written.append(entry)
            return bytes
        }
    }

    /// The command that an answer belongs to.
    enum Owner {
        case command(Reply)
        /// The command has expired.
        case late
        /// There is no command without an answer.
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

    /// Returns the expired commands. Those that were not written yet are removed and never sent.
    mutating func expire(at now: NIODeadline) -> (written: [Reply], unwritten: [Reply]) {
        var expired: [Reply] = []
        for index in written.indices where written[index].deadline <= now {
            guard let reply = written[index].reply else { continue }
            expired.append(reply)
            written[index].reply = nil
        }
        let late = unwritten.filter { $0.entry.deadline <= now }
        if !late.isEmpty { unwritten.removeAll { $0.entry.deadline <= now } }
        return (expired, late.compactMap(\.entry.reply))
    }

    /// The earliest deadline of a command. Later commands may have earlier ones.
    var nextDeadline: NIODeadline? {
        let written = written.lazy.filter { $0.reply != nil }.map(\.deadline).min()
        let waiting = unwritten.lazy.map(\.entry.deadline).min()
        guard let written, let waiting else { return written ?? waiting }
        return min(written, waiting)
    }

    /// Since when the oldest command has been late; nil if none is.
    var lateSince: NIODeadline? {
        guard let first = written.first, first.reply == nil else { return nil }
        return first.deadline
    }

    /// The connection is lost: written commands get no answer, and waiting ones are not retried.
    mutating func loseAll() -> [Reply] {
        defer {
            written.removeAll()
            unwritten.removeAll()
        }
        return written.compactMap(\.reply) + unwritten.compactMap(\.entry.reply)
    }
}
