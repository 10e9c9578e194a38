import WebImageCore
import WebImageDownload

extension ImageResponse {
    /// What happened during this load. For a picture from memory it contains little.
    public var trace: LoadTrace {
        guard let known = tracing else {
            let total = timings.total ?? .zero
            let root = LoadTrace.Stage(
                "load", start: .zero, duration: total, notes: [Self.sentence(source)], stages: timings.stages)
            return LoadTrace(root: root, place: "", originalKey: nil, variantKey: nil)
        }
        let request = known.record.request
        return LoadTrace(
            root: TraceTree(known).root(Self.sentence(source)), place: request.redactedURL,
            originalKey: request.originalKey.redacted, variantKey: request.variantKey.redacted)
    }

    fileprivate static func sentence(_ source: ImageSource) -> String {
        switch source {
        case .memory: "the picture was in memory"
        case .disk: "the disk cache had it"
        case .tier: "a tier behind the disk cache had it"
        case .network: "it came from the origin"
        case .file: "it was a file, or in the URL itself"
        case .given: "the program provided it"
        }
    }
}

extension WebImageError {
    /// What happened during the load that ended with this error. Nil if the error did not end a load, if the load was
    /// refused before it began, or if its caller cancelled it.
    public var trace: LoadTrace? {
        guard let known = (record as? FailureRecord)?.record else { return nil }
        let request = known.record.request
        return LoadTrace(
            root: TraceTree(known).root("it failed with \(code): \(message)"), place: request.redactedURL,
            originalKey: request.originalKey.redacted, variantKey: request.variantKey.redacted)
    }
}

extension CacheKey {
    /// The key without what must not be shown of the URL with which it begins.
    fileprivate var redacted: String {
        let url = text.prefix { $0 != Self.partSeparator && $0 != Character(Self.variantSeparator) }
        return redactedURL(String(url)) + text[url.endIndex...]
    }
}

extension LoadTimings {
    /// The stages one after another, since the times at which they began are not known.
    fileprivate var stages: [LoadTrace.Stage] {
        var stages: [LoadTrace.Stage] = []
        var start = Duration.zero
        let all: [(String, Duration?)] = [
            ("queue", queue), ("connect", connect), ("first byte", firstByte), ("transfer", transfer),
            ("decode", decode), ("transform", transform),
        ]
        for case (let name, let duration?) in all {
            stages.append(LoadTrace.Stage(name, start: start, duration: duration))
            start += duration
        }
        return stages
    }
}

/// Builds the tree of stages from the notes of a load. Times count from the caller's request.
private struct TraceTree {
    private let known: ResponseRecord
    private let record: LoadRecord

    init(_ known: ResponseRecord) { (self.known, record) = (known, known.record) }

    private func stage(
        _ name: String, _ began: Duration, _ ended: Duration, bytes: Int? = nil, notes: [String] = [],
        stages: [LoadTrace.Stage] = []
    ) -> LoadTrace.Stage {
        LoadTrace.Stage(
            name, start: began - known.asked, duration: max(ended - began, .zero), bytes: bytes, notes: notes,
            stages: stages)
    }

    /// - Parameter outcome: where the picture came from, or what the load failed with.
    func root(_ outcome: String) -> LoadTrace.Stage {
        var stages: [LoadTrace.Stage] = []
        if known.began > known.asked { stages.append(stage("interceptors", known.asked, known.began)) }
        stages += self.stages(of: record)
        return stage(
            "load", known.asked, known.ended,
            notes: [outcome] + sharing + record.notKept.sentences,
            stages: stages)
    }

    /// Who shared the work.
    private var sharing: [String] {
        var notes: [String] = []
        if record.started < known.began {
            notes.append("joined a load of the same picture that was on its way")
        } else if record.book.started < record.started {
            notes.append("shared the bytes with a load of another size or with other transformers")
        }
        if known.callers > 1 { notes.append("\(known.callers) callers got this picture at once") }
        if let apart = record.book.apart {
            notes.append("did not share the bytes of another load of the same original: \(apart)")
        }
        return notes
    }

    private func stages(of record: LoadRecord) -> [LoadTrace.Stage] {
        var stages = lookUps(record)
        if record.isMadeOfPicture {
            if let basis = record.basis {
                stages += self.stages(of: basis)
            } else {
                stages.append(
                    stage("look in memory", record.started, record.started, notes: ["made of a picture in memory"]))
            }
        }
        if let span = record.decode, let decode = decode(span, record.byteCount) { stages.append(decode) }
        for steps in record.steps {
            let names = record.request.options.transformers[steps.steps].map(\.key)
            stages.append(stage("transform", steps.began, steps.ended, notes: [names.joined(separator: " | ")]))
        }
        return stages
    }

    /// The stages in which the bytes were looked up, waited for and downloaded.
    private func lookUps(_ record: LoadRecord) -> [LoadTrace.Stage] {
        var stages: [LoadTrace.Stage] = []
        var open: (source: ImageSource, time: Duration)?
        let marks = record.book.marks
        for (index, (time, mark)) in marks.enumerated() {
            switch mark {
            case .looks(let source): open = (source, time)
            case .looked(let found):
                if let begun = open {
                    let name = begun.source == .disk ? "look in disk" : "look in tier"
                    stages.append(stage(name, begun.time, time, notes: [found ? "found" : "not there"]))
                }
                open = nil
            case .waitsForOther:
                let end = index + 1 < marks.count ? marks[index + 1].time : time
                stages.append(
                    stage("wait", time, end, notes: ["waited for another load that had just received the original"]))
            case .asks(let isConditional, let isShared):
                var answer: (time: Duration, status: Int?)?
                if index + 1 < marks.count, case .answered(let status) = marks[index + 1].mark {
                    answer = (marks[index + 1].time, status)
                }
                stages.append(download(record, asked: time, isConditional, isShared, answer))
            case .answered: break
            case .failedToDecode(let span):
                if let decode = decode(span, record.byteCount) { stages.append(decode) }
            }
        }
        return stages
    }

    private func download(
        _ record: LoadRecord, asked: Duration, _ isConditional: Bool, _ isShared: Bool,
        _ answer: (time: Duration, status: Int?)?
    ) -> LoadTrace.Stage {
        var notes: [String] = []
        if isConditional { notes.append("asked whether what is known is still good") }
        if isShared { notes.append("joined a transfer that was on its way") }
        // This exchange did not bring the body.
        if let answer, answer.status == 304 || answer.status == nil || record.metrics == nil {
            notes.append(
                answer.status.map { "status \($0)" } ?? "the origin could not be reached: the stored answer is used")
            return stage("download", asked, answer.time, notes: notes)
        }
        guard let metrics = record.metrics else { return stage("download", asked, known.ended, notes: notes) }
        var told = [metrics.status.map { "status \($0)" }, metrics.version?.rawValue, metrics.remoteAddress]
            .compactMap(\.self)
        if metrics.redirects > 0 { told.append("\(metrics.redirects) redirects") }
        if metrics.retries > 0 { told.append("\(metrics.retries) tries failed before") }
        if metrics.resumedBytes > 0 { told.append("\(metrics.resumedBytes) bytes were there from an earlier try") }
        if !told.isEmpty { notes.append(told.joined(separator: ", ")) }
        let end = asked + metrics.total
        var stages: [LoadTrace.Stage] = []
        if metrics.queued > .zero { stages.append(stage("queue", asked, asked + metrics.queued)) }
        if let timings = metrics.timings {
            let begin = end - timings.total
            let connected = max(timings.connect, timings.secure)
            if !timings.isReused { stages.append(stage("connect", begin, begin + connected)) }
            stages.append(
                stage(
                    "first byte", begin + (timings.isReused ? .zero : connected), begin + timings.firstByte,
                    notes: timings.isReused ? ["on a connection that was there"] : []))
            stages.append(stage("transfer", begin + timings.firstByte, end, bytes: timings.bodyBytes))
        }
        return stage("download", asked, end, bytes: metrics.receivedBytes, notes: notes, stages: stages)
    }

    private func decode(_ span: DecodeSpan, _ byteCount: Int?) -> LoadTrace.Stage? {
        guard let began = span.began else { return nil }
        var notes = ["\(milliseconds(span.spent)) of work"]
        if let asked = span.asked, began - asked > .microseconds(50) {
            notes.append("waited \(milliseconds(began - asked)) for a thread")
        }
        return stage("decode", began, span.ended, bytes: byteCount, notes: notes)
    }

    private func milliseconds(_ duration: Duration) -> String {
        let hundredths = Int((duration / .microseconds(10)).rounded())
        return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) ms"
    }
}
