import ServerGrammar

/// The text of a file of settings, as systemd reads an `EnvironmentFile` and a shell sources it.
public enum SettingsFile {
    /// Returns the variables that a text sets. Each line is `NAME=VALUE`, also behind `export`; empty lines and those that
    /// begin with `#` or `;` are skipped. Quotes around a whole value, single or double, are not part of it.
    ///
    /// - Throws: the first line that is something else.
    public static func variables(_ text: String) throws(SettingsError) -> [String: String] {
        var variables: [String: String] = [:]
        for (index, whole) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var line = whole.trimmed
            // Some editors begin a file with this mark.
            if index == 0, line.first == "\u{FEFF}" { line = line.dropFirst().trimmed }
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("export "), line.contains("=") { line = line.dropFirst(7).trimmed }
            guard let equals = line.firstIndex(of: "="), isName(line[..<equals]) else {
                // The line is not repeated: it may hold a secret.
                throw SettingsError(problems: ["line \(index + 1) is not NAME=VALUE"])
            }
            variables[String(line[..<equals])] = unquoted(line[line.index(after: equals)...].trimmed)
        }
        return variables
    }

    /// Adds the variables of the file that `IMGPROXY_ENV_LOCAL_FILE_PATH` names. They replace those of the same name, as
    /// in imgproxy.
    ///
    /// - Parameter readFile: returns nil for a file that cannot be read.
    /// - Throws: if the file cannot be read, or a line of it is something else.
    public static func addingLocalFile(
        to variables: [String: String], readFile: (String) -> String?
    ) throws(SettingsError) -> [String: String] {
        let name = "IMGPROXY_ENV_LOCAL_FILE_PATH"
        guard let path = variables[name], !path.isEmpty else { return variables }
        guard let text = readFile(path) else { throw SettingsError(problems: ["\(name): \(path) cannot be read"]) }
        do throws(SettingsError) {
            return variables.filter { $0.key != name }.merging(try self.variables(text)) { $1 }
        } catch {
            throw SettingsError(problems: error.problems.map { "\(name) (\(path)): \($0)" })
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, !first.isNumber else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private static func unquoted(_ value: Substring) -> String {
        guard value.count > 1, let quote = value.first, quote == "\"" || quote == "'", value.last == quote else {
            return String(value)
        }
        return String(value.dropFirst().dropLast())
    }
}
