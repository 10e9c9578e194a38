import Foundation
import Synchronization
import WebImage

/// The output of `--trace` and `--trace-file`.
final class TraceOutput: Sendable {
    private let isPrinted: Bool
    private let file: String?
    private let begin = ContinuousClock.now
    private let traces = Mutex<[(trace: LoadTrace, asked: Duration)]>([])

    /// - Parameters:
    ///   - isPrinted: whether each trace is printed to standard error.
    ///   - file: the file for all traces; nil if there is none.
    init?(isPrinted: Bool, file: String?) {
        if !isPrinted, file == nil { return nil }
        (self.isPrinted, self.file) = (isPrinted, file)
    }

    /// - Returns: the text to print; nil if there is none.
    func take(_ trace: LoadTrace?) -> String? {
        guard let trace else { return nil }
        if file != nil {
            let asked = ContinuousClock.now - begin - trace.root.duration
            traces.withLock { $0.append((trace, max(asked, .zero))) }
        }
        return isPrinted ? Self.shown(trace) : nil
    }

    /// The text of a trace, which quotes servers and file names, and is therefore made safe to show.
    private static func shown(_ trace: LoadTrace) -> String {
        let lines = trace.description.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { Console.shown(String($0), most: 2000) }.joined(separator: "\n")
    }

    /// Writes the file, if one was requested.
    func finish() throws(WebImageError) {
        guard let file else { return }
        let text = LoadTrace.eventFile(traces.withLock { $0 })
        try OutputFiles.write(Array(text.utf8), to: file)
    }
}
