import ServerGrammar

/// Reads settings from environment variables, and collects the problems with them.
struct EnvironmentReader {
    private let variables: [String: String]
    private var read: Set<String> = []
    /// The variables that were read by the names that imgproxy 3 gave them.
    private(set) var olderNames: [(old: String, new: String)] = []
    /// One sentence for each problem; it names the variable.
    private(set) var problems: [String] = []

    private static let namesBefore = [
        "IMGPROXY_WORKERS": "IMGPROXY_CONCURRENCY", "IMGPROXY_READ_REQUEST_TIMEOUT": "IMGPROXY_READ_TIMEOUT",
        "IMGPROXY_WRITE_RESPONSE_TIMEOUT": "IMGPROXY_WRITE_TIMEOUT",
        "IMGPROXY_AUTO_WEBP": "IMGPROXY_ENABLE_WEBP_DETECTION",
        "IMGPROXY_AUTO_AVIF": "IMGPROXY_ENABLE_AVIF_DETECTION", "IMGPROXY_USE_ETAG": "IMGPROXY_ETAG_ENABLED",
        "IMGPROXY_USE_LAST_MODIFIED": "IMGPROXY_LAST_MODIFIED_ENABLED",
    ]

    init(_ variables: [String: String]) { self.variables = variables }

    /// The variables that begin with one of the prefixes and that were never read.
    func unread(_ prefixes: [String]) -> [String] {
        variables.keys.filter { name in prefixes.contains { name.hasPrefix($0) } && !read.contains(name) }.sorted()
    }

    mutating func fail(_ problem: String) { problems.append(problem) }

    /// - Returns: nil if the variable is not set or is blank.
    mutating func text(_ name: String) -> String? {
        if let value = value(name) { return value }
        guard let old = Self.namesBefore[name], let value = value(old) else { return nil }
        if !olderNames.contains(where: { $0.old == old }) { olderNames.append((old, name)) }
        return value
    }

    /// The value of a variable for which an empty value has a meaning; nil only if it is not set.
    mutating func textOrEmpty(_ name: String) -> String? {
        read.insert(name)
        return variables[name]
    }

    private mutating func value(_ name: String) -> String? {
        read.insert(name)
        return variables[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }

    /// The value in lower case, for settings with a few fixed words.
    mutating func word(_ name: String) -> String? { text(name)?.lowercased() }

    mutating func flag(_ name: String, _ fallback: Bool) -> Bool {
        guard let text = text(name) else { return fallback }
        switch text.lowercased() {
        case "1", "t", "true": return true
        case "0", "f", "false": return false
        default:
            fail("\(name) must be true or false, not \(text)")
            return fallback
        }
    }

    mutating func whole(_ name: String, _ fallback: Int, in range: ClosedRange<Int> = 0...(1 << 40)) -> Int {
        guard let text = text(name) else { return fallback }
        guard let value = Int(text), range.contains(value) else {
            fail("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
            return fallback
        }
        return value
    }

    mutating func number(_ name: String, _ fallback: Double, in range: ClosedRange<Double>) -> Double {
        guard let text = text(name) else { return fallback }
        guard let value = Double(text), value.isFinite, range.contains(value) else {
            fail("\(name) must be a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
            return fallback
        }
        return value
    }

    mutating func seconds(_ name: String, _ fallback: Int, from least: Int = 0) -> Duration {
        .seconds(whole(name, fallback, in: least...31_536_000))
    }

    /// The parts of a comma-separated value, without surrounding white space.
    mutating func list(_ name: String) -> [String] { list(name, separatedBy: ",") }

    mutating func list(_ name: String, separatedBy separator: String) -> [String] {
        (text(name) ?? "")[...].components(of: separator).map { String($0[...].trimmed) }.filter { !$0.isEmpty }
    }

    /// A comma-separated list of values that are written as pairs of hex digits.
    mutating func keys(_ name: String) -> [[UInt8]] {
        list(name).compactMap { text in
            let digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
            guard digits.count == text.utf8.count, digits.count % 2 == 0 else {
                fail("\(name) must consist of pairs of hexadecimal digits")
                return nil
            }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        }
    }
}
