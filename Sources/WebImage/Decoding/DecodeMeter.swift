import WebImageCore

/// Measures how long a decode has had a thread, over all its runs, against its limit.
struct DecodeMeter {
    let limit: Duration
    private(set) var spent: Duration = .zero
    private var began: Duration?
    /// When a thread was first requested, and when it was first obtained.
    private(set) var firstAsked: Duration?
    private(set) var firstBegan: Duration?

    init(limit: Duration) { self.limit = limit }

    mutating func ask(at now: Duration) { if firstAsked == nil { firstAsked = now } }

    mutating func begin(at now: Duration) {
        began = now
        if firstBegan == nil { firstBegan = now }
    }

    mutating func end(at now: Duration) {
        if let began { spent += now - began }
        began = nil
    }

    func span(endedAt now: Duration) -> DecodeSpan {
        DecodeSpan(asked: firstAsked, began: firstBegan, ended: now, spent: spent)
    }

    func check(at now: Duration) throws(WebImageError) {
        guard spent + (began.map { now - $0 } ?? .zero) > limit else { return }
        throw WebImageError(over: .time, "decoding took longer than \(limit.inWords)")
    }
}

/// When the next preview may be shown: at most ten times a second, and never so often that rendering takes more than a
/// fifth of the time.
struct PreviewPace {
    private(set) var next: Duration = .zero
    /// True while there is something newer than the last preview.
    var isOwed = false

    func isDue(at now: Duration) -> Bool { now >= next }

    mutating func shown(at now: Duration, cost: Duration) { next = now + max(.milliseconds(100), cost * 4) }
}
