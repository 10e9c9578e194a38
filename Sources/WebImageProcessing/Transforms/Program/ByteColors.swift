import CPixels

/// Steps on colours from bytes to bytes, without a stop at planes of floats.
struct ByteColors {
    let steps: [wi_color_step]
    /// What comes behind the steps; nil: nothing.
    let curve: ColorCurve?
    /// For red, green and blue what each byte becomes, where no step mixes them.
    private let tables: [UInt8]?

    /// - Parameter bends: whether curves are tried.
    init(_ colors: ColorSteps, bends: Bool = true) {
        let joined = Self.joined(colors.steps)
        if joined.contains(where: { $0.kind == WI_COLOR_MATRIX }) {
            let curve = bends ? ColorCurve(endOf: joined) : nil
            self.curve = curve
            steps = Self.compiled(joined.dropLast(curve?.stepCount ?? 0), bends: curve != nil)
            tables = nil
        } else {
            curve = nil
            steps = Self.compiled(joined[...], bends: false)
            tables = Self.tables(steps)
        }
    }

    /// - Parameter isOpaque: whether alpha does not count; it counts as straight else.
    func apply(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, isOpaque: Bool) {
        let input = source.assumingMemoryBound(to: UInt8.self)
        let output = target.assumingMemoryBound(to: UInt8.self)
        if let tables {
            wi_map_row_8(output, input, count, tables, isOpaque ? 1 : 0)
        } else {
            wi_color_row_8(output, input, count, steps, steps.count, curve?.numbers, isOpaque ? 1 : 0)
        }
    }

    /// Made by the very steps, of a row of all grays.
    private static func tables(_ steps: [wi_color_step]) -> [UInt8] {
        let grays = (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 4) }
        var made = grays
        wi_color_row_8(&made, grays, 256, steps, steps.count, nil, 1)
        return (0..<3).flatMap { part in (0..<256).map { made[4 * $0 + part] } }
    }

    /// The same steps with those that mix no parts in one, where they follow each other: held twice is held once, between what
    /// the second makes of the first one's bounds.
    private static func joined(_ steps: [wi_color_step]) -> [wi_color_step] {
        var joined: [wi_color_step] = []
        for step in steps {
            guard step.kind == WI_COLOR_SCALE, let last = joined.last, last.kind == WI_COLOR_SCALE else {
                joined.append(step)
                continue
            }
            var both = step
            for part in 0..<3 {
                let (factor, added) = (step.factor(part), step.added(part))
                both.set(part, factor: last.factor(part) * factor, added: last.added(part) * factor + added)
                let ends = [last.low(part), last.high(part)].map { end in
                    min(max(end * factor + added, step.low(part)), step.high(part))
                }
                both.setBounds(part, min(ends[0], ends[1]), max(ends[0], ends[1]))
            }
            joined[joined.count - 1] = both
        }
        return joined
    }

    /// Steps that take bytes as they are and give what is cut off to bytes, or what a curve takes; what cannot come out is not held.
    private static func compiled(_ steps: ArraySlice<wi_color_step>, bends: Bool) -> [wi_color_step] {
        var steps = Array(steps)
        if steps.first?.isPower ?? true { steps.insert(.identity, at: 0) }
        steps[0].scaleInput(by: 1 / 255)
        if !bends, let last = steps.indices.last, steps[last].kind == WI_COLOR_POWER {
            steps[last].kind = WI_COLOR_BRIEF_POWER
            steps.append(.identity)
        }
        // What each part of a colour may be before a step.
        var ranges = [ClosedRange<Float>](repeating: 0...255, count: 3)
        for index in steps.indices {
            ranges = steps[index].leaveOutBounds(for: ranges)
        }
        let last = steps.count - 1
        if bends {
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

    /// The weight of red, green or blue in itself.
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

    /// Has the step do what it did for numbers that are so many times as large as what comes.
    fileprivate mutating func scaleInput(by scale: Float) {
        for part in 0..<3 {
            for other in 0..<3 { self[4 * part + other] *= scale }
        }
    }

    /// Has what comes out be so many times as large, and more by a number.
    fileprivate mutating func scaleOutput(by scale: Float, adding more: Float) {
        for part in 0..<3 {
            for other in 0..<3 { self[4 * part + other] *= scale }
            self[4 * part + 3] = self[4 * part + 3] * scale + more
            setBounds(part, low(part) * scale + more, high(part) * scale + more)
        }
    }

    /// Notes which bounds nothing can reach.
    ///
    /// - Parameter ranges: what the parts of a colour may be before the step.
    /// - Returns: what they may be behind it.
    fileprivate mutating func leaveOutBounds(for ranges: [ClosedRange<Float>]) -> [ClosedRange<Float>] {
        if isPower { return [ClosedRange<Float>](repeating: 0...1, count: 3) }
        // What rounding adds does not show: where it would, bounds are held in any case.
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
            if least < low(part) - slack { reachesLow = true }
            if most > high(part) + slack { reachesHigh = true }
            return min(max(least, low(part)), high(part))...max(min(most, high(part)), low(part))
        }
        (holds_low, holds_high) = (reachesLow ? 1 : 0, reachesHigh ? 1 : 0)
        return made
    }
}
