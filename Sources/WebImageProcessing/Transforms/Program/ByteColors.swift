import CPixels

/// Colour steps on bytes that need no conversion to planes of floats.
struct ByteColors {
    let steps: [wi_color_step]
    /// The curve after the steps; nil if there is none.
    let curve: ColorCurve?
    /// The output for each byte of red, green and blue, if no step mixes the channels.
    private let tables: [UInt8]?

    /// - Parameter usesCurve: whether the last steps may become a curve.
    init(_ colors: ColorSteps, usesCurve: Bool = true) {
        let joined = Self.joined(colors.steps)
        if joined.contains(where: { $0.kind == WI_COLOR_MATRIX }) {
            let curve = usesCurve ? ColorCurve(endOf: joined) : nil
            self.curve = curve
            steps = Self.compiled(joined.dropLast(curve?.stepCount ?? 0), endsWithCurve: curve != nil)
            tables = nil
        } else {
            curve = nil
            steps = Self.compiled(joined[...], endsWithCurve: false)
            tables = Self.tables(steps)
        }
    }

    /// - Parameter isOpaque: whether alpha is ignored; otherwise it counts as straight.
    func apply(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, isOpaque: Bool) {
        let input = source.assumingMemoryBound(to: UInt8.self)
        let output = target.assumingMemoryBound(to: UInt8.self)
        if let tables {
            wi_map_row_8(output, input, count, tables, isOpaque ? 1 : 0)
        } else {
            wi_color_row_8(output, input, count, steps, steps.count, curve?.numbers, isOpaque ? 1 : 0)
        }
    }

    /// Computes the tables by applying the steps to a row of all grays.
    private static func tables(_ steps: [wi_color_step]) -> [UInt8] {
        let grays = (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 4) }
        var made = grays
        wi_color_row_8(&made, grays, 256, steps, steps.count, nil, 1)
        return (0..<3).flatMap { part in (0..<256).map { made[4 * $0 + part] } }
    }

    /// The same steps, with consecutive ones combined where that is possible.
    private static func joined(_ steps: [wi_color_step]) -> [wi_color_step] {
        var joined: [wi_color_step] = []
        for step in steps {
            if let both = joined.last?.joined(with: step) {
                joined[joined.count - 1] = both
            } else {
                joined.append(step)
            }
        }
        return joined
    }

    /// Adapts the steps to input in bytes, and to output that is clamped to bytes or fed to a curve. Unnecessary clamps
    /// are left out.
    private static func compiled(_ steps: ArraySlice<wi_color_step>, endsWithCurve: Bool) -> [wi_color_step] {
        var steps = Array(steps)
        if steps.first?.isPower ?? true { steps.insert(.identity, at: 0) }
        steps[0].scaleInput(by: 1 / 255)
        if !endsWithCurve, let last = steps.indices.last, steps[last].kind == WI_COLOR_POWER {
            steps[last].kind = WI_COLOR_BRIEF_POWER
            steps.append(.identity)
        }
        // The possible range of each channel before a step.
        var ranges = [ClosedRange<Float>](repeating: 0...255, count: 3)
        for index in steps.indices {
            ranges = steps[index].leaveOutBounds(for: ranges)
        }
        let last = steps.count - 1
        if endsWithCurve {
            steps[last].scaleOutput(by: ColorCurve.scale, adding: ColorCurve.least)
            steps[last].high = (ColorCurve.most, ColorCurve.most, ColorCurve.most)
            (steps[last].holds_low, steps[last].holds_high) = (1, 1)
        } else {
            steps[last].scaleOutput(by: 255, adding: 0.5)
        }
        return steps
    }
}

extension wi_color_step {
    fileprivate static var identity: wi_color_step {
        wi_color_matrix([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    }

    var isPower: Bool { kind == WI_COLOR_POWER || kind == WI_COLOR_BRIEF_POWER }

    /// The factor with which a channel enters its own output.
    func factor(_ part: Int) -> Float { self[5 * part] }
    func added(_ part: Int) -> Float { self[4 * part + 3] }
    func low(_ part: Int) -> Float { withUnsafeBytes(of: low) { $0.bindMemory(to: Float.self)[part] } }
    func high(_ part: Int) -> Float { withUnsafeBytes(of: high) { $0.bindMemory(to: Float.self)[part] } }

    private subscript(place: Int) -> Float {
        get { withUnsafeBytes(of: values) { $0.bindMemory(to: Float.self)[place] } }
        set { withUnsafeMutableBytes(of: &values) { $0.bindMemory(to: Float.self)[place] = newValue } }
    }

    fileprivate mutating func set(_ part: Int, factor: Float, added: Float) {
        self[5 * part] = factor
        self[4 * part + 3] = added
    }

    fileprivate mutating func setBounds(_ part: Int, _ lowest: Float, _ highest: Float) {
        withUnsafeMutableBytes(of: &low) { $0.bindMemory(to: Float.self)[part] = lowest }
        withUnsafeMutableBytes(of: &high) { $0.bindMemory(to: Float.self)[part] = highest }
    }

    /// Larger factors are not combined: a long chain of them would end in infinity, which times 0 is NaN.
    private static let largestFactor: Float = 1e6

    /// Combines this step and the next, if neither mixes channels. The clamp of this step, as the next step maps its
    /// bounds, is combined with the next step's clamp.
    ///
    /// - Returns: nil if both are needed.
    fileprivate func joined(with next: wi_color_step) -> wi_color_step? {
        guard kind == WI_COLOR_SCALE, next.kind == WI_COLOR_SCALE else { return nil }
        var both = next
        for part in 0..<3 {
            let (factor, added) = (next.factor(part), next.added(part))
            both.set(part, factor: self.factor(part) * factor, added: self.added(part) * factor + added)
            let ends = [low(part), high(part)].map { end in
                min(max(end * factor + added, next.low(part)), next.high(part))
            }
            both.setBounds(part, min(ends[0], ends[1]), max(ends[0], ends[1]))
            guard both.factor(part).magnitude <= Self.largestFactor, both.added(part).isFinite,
                both.low(part).isFinite, both.high(part).isFinite
            else { return nil }
        }
        return both
    }

    /// Adapts the step to inputs that are larger by a factor.
    fileprivate mutating func scaleInput(by scale: Float) {
        for part in 0..<3 {
            for other in 0..<3 { self[4 * part + other] *= scale }
        }
    }

    /// Scales the output by a factor, and adds a number.
    fileprivate mutating func scaleOutput(by scale: Float, adding more: Float) {
        for part in 0..<3 {
            for other in 0..<3 { self[4 * part + other] *= scale }
            self[4 * part + 3] = self[4 * part + 3] * scale + more
            setBounds(part, low(part) * scale + more, high(part) * scale + more)
        }
    }

    /// Marks the bounds that cannot be reached.
    ///
    /// - Parameter ranges: the possible values of the channels before the step.
    /// - Returns: the possible values after it.
    fileprivate mutating func leaveOutBounds(for ranges: [ClosedRange<Float>]) -> [ClosedRange<Float>] {
        if isPower { return [ClosedRange<Float>](repeating: 0...1, count: 3) }
        // Rounding errors are invisible: where they would matter, clamps are kept.
        let slack: Float = 1e-5
        var (reachesLow, reachesHigh) = (false, false)
        let made = (0..<3).map { part -> ClosedRange<Float> in
            var (least, most) = (added(part), added(part))
            for other in 0..<3 {
                let ends = [
                    self[4 * part + other] * ranges[other].lowerBound,
                    self[4 * part + other] * ranges[other].upperBound,
                ]
                least += min(ends[0], ends[1])
                most += max(ends[0], ends[1])
            }
            // Written so that NaN keeps both clamps.
            if !(least >= low(part) - slack) { reachesLow = true }
            if !(most <= high(part) + slack) { reachesHigh = true }
            guard least <= most else { return low(part)...high(part) }
            return min(max(least, low(part)), high(part))...max(min(most, high(part)), low(part))
        }
        (holds_low, holds_high) = (reachesLow ? 1 : 0, reachesHigh ? 1 : 0)
        return made
    }
}
