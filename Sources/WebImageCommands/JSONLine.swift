import WebImage

/// One JSON object on one line, with its members in the order in which they were added.
struct JSONLine {
    private var members: [String] = []

    mutating func add(_ name: String, _ value: String?) { addRaw(name, value.map(JSONText.quoted)) }

    mutating func add(_ name: String, _ values: [String]?) {
        addRaw(name, values.map { "[\($0.map(JSONText.quoted).joined(separator: ","))]" })
    }

    mutating func add(_ name: String, _ value: Int?) { addRaw(name, value.map { "\($0)" }) }

    mutating func add(_ name: String, _ value: Int64?) { addRaw(name, value.map { "\($0)" }) }

    mutating func add(_ name: String, _ value: Bool?) { addRaw(name, value.map { $0 ? "true" : "false" }) }

    mutating func add(_ name: String, _ value: JSONLine?) { addRaw(name, value?.text) }

    /// Adds a duration in milliseconds with three decimals.
    mutating func add(_ name: String, milliseconds duration: Duration?) {
        addRaw(name, duration.map { Self.milliseconds($0) })
    }

    /// Adds an angle in degrees with at most six decimals, which is a tenth of a metre on the ground.
    mutating func add(_ name: String, degrees: Double?) {
        addRaw(name, degrees.flatMap { $0.isFinite ? "\(($0 * 1_000_000).rounded() / 1_000_000)" : nil })
    }

    var text: String { "{\(members.joined(separator: ","))}" }

    private mutating func addRaw(_ name: String, _ value: String?) {
        members.append("\(JSONText.quoted(name)):\(value ?? "null")")
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let micros = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let rest = "\(micros.magnitude % 1000)"
        let zeros = String(repeating: "0", count: 3 - rest.count)
        return "\(micros < 0 ? "-" : "")\(micros.magnitude / 1000).\(zeros)\(rest)"
    }
}
