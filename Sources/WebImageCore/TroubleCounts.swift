/// Counts what goes wrong again and again, so that it is said once and not for every picture.
package struct TroubleCounts: Sendable {
    private var counts: [WebImageError.Code: Int] = [:]

    package init() {}

    /// - Returns: how often that has gone wrong so far, where it is to be said: the first time, the tenth, the hundredth, and
    ///   so on.
    package mutating func note(_ code: WebImageError.Code) -> Int? {
        let count = (counts[code] ?? 0) + 1
        counts[code] = count
        var step = count
        while step % 10 == 0 { step /= 10 }
        return step == 1 ? count : nil
    }
}
