extension Duration {
    /// The duration as messages show it, rounded to a useful precision: `"250 ms"`, `"1.5 s"`, `"15 s"`, `"5 min"`,
    /// `"2 h"`.
    package var inWords: String {
        let seconds = self / .seconds(1)
        if abs(seconds) < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        if abs(seconds) < 9.95 { return Self.withOneDecimal(seconds, "s") }
        if abs(seconds) < 119.5 { return "\(Int(seconds.rounded())) s" }
        if abs(seconds) < 7170 { return Self.withOneDecimal(seconds / 60, "min") }
        // The longest duration has more hours than an `Int` can hold.
        return Self.withOneDecimal(min(max(seconds / 3600, -1e15), 1e15), "h")
    }

    private static func withOneDecimal(_ number: Double, _ unit: String) -> String {
        let tenths = Int((number * 10).rounded())
        let decimal = tenths % 10 == 0 ? "" : ".\(abs(tenths % 10))"
        return "\(tenths < 0 && tenths > -10 ? "-" : "")\(tenths / 10)\(decimal) \(unit)"
    }
}
