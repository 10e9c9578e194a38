extension LoadTrace {
    /// Returns traces as JSON in the Trace Event Format, which Chrome's `about:tracing` and Perfetto's viewer open.
    /// There is a row for each load, and below it one for each stage that overlaps another.
    ///
    /// - Parameter traces: each trace with the time of its load's request, counted from a moment that all traces share.
    public static func eventFile(_ traces: [(trace: LoadTrace, asked: Duration)]) -> String {
        var events: [String] = []
        for (number, (trace, asked)) in traces.enumerated() {
            let process = number + 1
            events.append(
                #"{"name":"process_name","ph":"M","pid":\#(process),"tid":0,"args":{"name":\#(JSONText.quoted(trace.place))}}"#
            )
            for (stage, row) in trace.root.inRows() {
                events.append(stage.event(process: process, row: row, since: asked))
            }
        }
        return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + events.joined(separator: ",\n") + "\n]}\n"
    }

    /// This trace alone, in the format of ``eventFile(_:)``.
    public var events: String { Self.eventFile([(self, .zero)]) }
}

extension LoadTrace.Stage {
    /// All stages, each with its row. Stages in one row may contain each other, but never overlap partly.
    fileprivate func inRows() -> [(stage: Self, row: Int)] {
        var placed: [(stage: Self, row: Int)] = [(self, 1)]
        var ends: [Int: Duration] = [:]
        var lastRow = 1
        func place(_ stages: [Self], in parentRow: Int) {
            for stage in stages.sorted(by: { $0.start < $1.start }) {
                var row = parentRow
                if let busy = ends[row], busy > stage.start {
                    lastRow += 1
                    row = lastRow
                }
                ends[row] = stage.end
                placed.append((stage, row))
                let taken = ends
                ends[row] = nil
                place(stage.stages, in: row)
                ends = ends.merging(taken) { max($0, $1) }
            }
        }
        place(stages, in: 1)
        return placed
    }

    fileprivate func event(process: Int, row: Int, since asked: Duration) -> String {
        func microseconds(_ duration: Duration) -> String {
            let nanoseconds = Int(duration / .nanoseconds(1))
            let rest = String(nanoseconds.magnitude % 1000)
            let sign = nanoseconds < 0 ? "-" : ""
            return "\(sign)\(nanoseconds.magnitude / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
        }
        var arguments: [String] = bytes.map { ["\"bytes\":\($0)"] } ?? []
        if !notes.isEmpty {
            arguments.append("\"notes\":[" + notes.map(JSONText.quoted).joined(separator: ",") + "]")
        }
        return "{\"name\":\(JSONText.quoted(name)),\"cat\":\"load\",\"ph\":\"X\",\"pid\":\(process),\"tid\":\(row),"
            + "\"ts\":\(microseconds(asked + start)),\"dur\":\(microseconds(duration)),"
            + "\"args\":{\(arguments.joined(separator: ","))}}"
    }
}
