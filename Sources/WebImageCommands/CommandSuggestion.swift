import ArgumentParser

/// Suggests a command for a mistyped one.
enum CommandSuggestion {
    /// The message for arguments that begin with an unknown command; nil if they begin with a known command or an
    /// option.
    static func message(for arguments: [String]) -> String? {
        message(for: arguments[...], of: WebImageCommand.self, path: "webimage")
    }

    private static func message(
        for arguments: ArraySlice<String>, of command: any ParsableCommand.Type, path: String
    ) -> String? {
        let commands = command.configuration.subcommands
        guard !commands.isEmpty, let word = arguments.first, !word.hasPrefix("-"), word != "help" else { return nil }
        if let known = commands.first(where: { $0._commandName == word }) {
            return message(for: arguments.dropFirst(), of: known, path: "\(path) \(word)")
        }
        let names = commands.map { $0._commandName }
        let shown = Console.shown(word, most: 60)
        let start = "there is no command '\(shown)'"
        if word.contains("/") || word.contains("."), path == "webimage" {
            return "\(start); to load a picture: webimage fetch \(shown)"
        }
        let nearest = names.map { ($0, distance(Array(word), Array($0))) }.min { $0.1 < $1.1 }
        if let (name, distance) = nearest, distance <= 2, distance < name.count - 1 {
            return "\(start); did you mean '\(path) \(name)'?"
        }
        return "\(start); there are \(names.joined(separator: ", "))"
    }

    /// The number of letters that must be added, removed, changed or exchanged with their neighbour (Damerau's
    /// distance, without touching a letter twice).
    static func distance(_ one: [Character], _ other: [Character]) -> Int {
        guard one.count < 64, other.count < 64 else { return .max }
        var rows = [Array(0...other.count)]
        for (i, letter) in one.enumerated() {
            var row = [i + 1]
            for (j, target) in other.enumerated() {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (letter == target ? 0 : 1))
                if i > 0, j > 0, letter == other[j - 1], one[i - 1] == target {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
