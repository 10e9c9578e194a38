import WebImage
import WebImageSystem

/// The work for one input of a list.
protocol ListJob: Sendable {
    /// Jobs with the same turn wait for each other, so that the time of a load is not spent in a queue; nil: the job need
    /// not wait.
    var turn: ListTurn? { get }
    /// Runs the job, which reports its own result. The returned report is only for the summary.
    func run() async -> PictureReport
}

extension ListJob {
    var turn: ListTurn? { nil }
}

/// What jobs wait for: a host, or the processor.
struct ListTurn: Hashable, Sendable {
    let name: String
    /// How many jobs may run at a time.
    let most: Int
}

/// Lets jobs begin in their order, as many at a time as their turn allows.
actor ListTurns {
    private var running: [ListTurn: Int] = [:]
    private var waiting: [ListTurn: FIFO<CheckedContinuation<Void, Never>>] = [:]

    func take(_ turn: ListTurn) async {
        guard running[turn, default: 0] >= turn.most else {
            running[turn, default: 0] += 1
            return
        }
        await withCheckedContinuation { waiting[turn, default: FIFO()].append($0) }
    }

    func give(_ turn: ListTurn) {
        guard let next = waiting[turn]?.popFirst() else {
            running[turn, default: 1] -= 1
            return
        }
        next.resume()
    }
}

/// The results of a list's inputs, for the summary.
struct ListTally: Sendable {
    /// The least number of inputs for which a summary is printed.
    static let shortest = 10

    private(set) var whole = 0
    private(set) var partial = 0
    private(set) var failed = 0
    private var byteCount = 0
    private var sources: [ImageSource: Int] = [:]

    var isAllWell: Bool { partial + failed == 0 }
    var done: Int { whole + partial + failed }

    /// Runs the jobs, at most `concurrency` at a time, until all are done or the reader of standard output has gone.
    static func running(_ jobs: some Sequence<some ListJob>, concurrency: Int) async -> ListTally {
        await withTaskGroup(of: PictureReport.self) { group in
            var (tally, waiting) = (ListTally(), jobs.makeIterator())
            let turns = ListTurns()
            func addOne() -> Bool {
                guard let job = waiting.next() else { return false }
                group.addTask {
                    guard let turn = job.turn else { return await job.run() }
                    await turns.take(turn)
                    let report = await job.run()
                    await turns.give(turn)
                    return report
                }
                return true
            }
            for _ in 0..<concurrency where !addOne() { break }
            while let report = await group.next() {
                // The reader has closed the pipe: no further job is started, and the running ones are cancelled.
                if Console.isReaderGone {
                    group.cancelAll()
                } else {
                    tally.add(report)
                    _ = addOne()
                }
            }
            return tally
        }
    }

    mutating func add(_ report: PictureReport) {
        switch report.status {
        case .ok: whole += 1
        case .partial: partial += 1
        case .error: failed += 1
        }
        guard report.status != .error else { return }
        byteCount += report.byteCount ?? 0
        if let source = report.source { sources[source, default: 0] += 1 }
    }

    /// Ends a list, and prints the summary if the list is long enough.
    ///
    /// - Parameter tellsLeft: whether it prints how many inputs were left, if it prints nothing else.
    /// - Throws: `someFailed` unless all inputs succeeded.
    func tell(
        of total: Int, since begin: ContinuousClock.Instant, tellsSummary: Bool, tellsLeft: Bool = false
    ) throws {
        if tellsSummary, total >= Self.shortest, !Console.isReaderGone {
            Console.err(summary(in: ContinuousClock.now - begin, of: total))
        } else if tellsLeft, total > done, !Console.isReaderGone {
            Console.err("\(total - done) of \(total) left for the next time")
        }
        if !isAllWell { throw someFailed }
    }

    /// `"20000 pictures in 34 s: 15000 from the network, 4990 from disk, 10 failed; 1.2 GiB"`.
    func summary(in time: Duration, of total: Int? = nil) -> String {
        var parts: [String] = []
        let places: [(ImageSource, String)] = [
            (.network, "the network"), (.disk, "disk"), (.file, "files"), (.memory, "memory"),
        ]
        for (source, name) in places {
            if let count = sources[source] { parts.append("\(count) from \(name)") }
        }
        if partial > 0 { parts.append("\(partial) cut short") }
        if failed > 0 { parts.append("\(failed) failed") }
        if let total, total > done { parts.append("\(total - done) left for the next time") }
        let seconds = time.components.seconds
        let shown = seconds < 10 ? PictureReport.shortTime(time) : "\(seconds) s"
        return "\(done) pictures in \(shown): \(parts.joined(separator: ", ")); \(ByteCount(byteCount))"
    }
}
