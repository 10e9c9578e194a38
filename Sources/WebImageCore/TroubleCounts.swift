/// Counts repeated failures, so that they are reported only now and then and not for every picture.
package struct TroubleCounts: Sendable {
    private var counts: [WebImageError.Code: Int] = [:]

    package init() {}

    /// Counts a failure.
    ///
    /// - Returns: the number of such failures so far if it is to be reported: for the first, the tenth, the hundredth,
    ///   and so on. Otherwise nil.
    package mutating func note(_ code: WebImageError.Code) -> Int? {
        let count = (counts[code] ?? 0) + 1
        counts[code] = count
        var step = count
        while step % 10 == 0 { step /= 10 }
        return step == 1 ? count : nil
    }
}
