import Synchronization
import WebImageCore
import WebImageSystem

/// A part of a pass: rows of its result, and the rows that they need.
struct PassBand: Sendable {
    /// The rows that each stage makes.
    let rows: [Range<Int>]
    /// The rows of the source for the first stage.
    let source: Range<Int>
}

extension TransformPass {
    /// The bands to share with idle threads. There is only one if there are no such threads, or sharing gains nothing.
    func bands(_ helpers: TransformProgram.Helpers?) -> [PassBand] {
        let whole = band(0..<output.height)
        let pixels = view.width * view.height + Double(output.width) * Double(output.height)
        guard let helpers, canBeParted, takesLong, output.height > 1, pixels >= helpers.minPixels else {
            return [whole]
        }
        let idle = helpers.threads.idleCount
        guard idle > 0 else { return [whole] }
        let most = (1 + idle) * TransformProgram.Helpers.bandsPerThread
        let middle = output.height / 2
        let shared = band(0..<middle).source.upperBound - band(middle..<output.height).source.lowerBound
        let allowed = helpers.maxRepeated * view.height / Double(max(shared, 1))
        let count = min(most, output.height, 1 + Int(min(allowed, Double(most))))
        let edges = (0...count).map { output.height * $0 / count }
        return (0..<count).map { band(edges[$0]..<edges[$0 + 1]) }
    }

    /// - Parameter rows: the rows of the result; at least one.
    private func band(_ rows: Range<Int>) -> PassBand {
        var made: [Range<Int>] = []
        var rows = rows
        for stage in stages.reversed() {
            made.append(rows)
            rows = stage.inputRows(for: rows)
        }
        return PassBand(rows: made.reversed(), source: rows)
    }

    /// Calls `body` for each band, on this thread and on idle ones.
    ///
    /// - Throws: an error that `body` threw for one of the bands.
    func share(
        _ bands: [PassBand], with helpers: TransformProgram.Helpers?,
        _ body: @escaping @Sendable (PassBand) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        guard bands.count > 1, let helpers else {
            for band in bands { try body(band) }
            return
        }
        let failure = Guarded<WebImageError?>(nil)
        helpers.threads.share(bands.count) { index in
            do throws(WebImageError) { try body(bands[index]) } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Whether the work takes longer than reading memory. Two threads do not read memory faster, so that sharing less
    /// work would only cost time.
    private var takesLong: Bool {
        let points = stages.flatMap { stage -> [any PointOperation] in
            if case .points(let operations) = stage.work { operations } else { [] }
        }
        return points.count > 1 || points.contains(where: \.takesLong) || stages.contains(where: \.looksAround)
    }

    /// Whether the pass can be divided. A picture on a larger canvas is usually small, and some bands would have no
    /// rows of it.
    private var canBeParted: Bool {
        stages.allSatisfy { if case .canvas = $0.work { false } else { true } }
    }
}

extension TransformPass.Stage {
    /// Whether a pixel depends on several pixels of the input.
    fileprivate var looksAround: Bool {
        switch work {
        case .resample, .sharpen, .neighbors: true
        case .crop, .points, .canvas: false
        }
    }

    /// The input rows from which these rows of the result are made.
    fileprivate func inputRows(for rows: Range<Int>) -> Range<Int> {
        switch work {
        case .resample(let axes): axes.inputRows(for: rows)
        case .crop(_, let y): rows.lowerBound + y..<rows.upperBound + y
        case .points: rows
        case .canvas(let plan): plan.inputRows(for: rows)
        case .sharpen(let plan): plan.inputRows(for: rows)
        case .neighbors(let operation):
            max(rows.lowerBound - operation.reach, 0)..<min(rows.upperBound + operation.reach, input.height)
        }
    }
}
