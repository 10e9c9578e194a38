extension Duration {
    /// Rounded to nearest; never negative.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return min(seconds, Int64(UInt32.max)) * 1000 + (attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000
    }
}
