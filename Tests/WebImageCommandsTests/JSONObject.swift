// Uses Foundation's parser, so that the command's own writer is not tested with our own code.
import Foundation

/// The object of a line of JSON, with the order of its members.
struct JSONObject {
    private let members: [String: Any]
    /// The names of the members, in order.
    let keys: [String]

    init(_ line: String) throws {
        let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
        members = parsed as? [String: Any] ?? [:]
        keys = Self.keys(of: line)
    }

    private init(_ members: [String: Any]) {
        self.members = members
        keys = []
    }

    func text(_ name: String) -> String? { members[name] as? String }
    func texts(_ name: String) -> [String]? { members[name] as? [String] }
    func number(_ name: String) -> Int? { members[name] as? Int }
    func double(_ name: String) -> Double? { members[name] as? Double }
    func flag(_ name: String) -> Bool? { members[name] as? Bool }
    func object(_ name: String) -> JSONObject? { (members[name] as? [String: Any]).map { JSONObject($0) } }
    func isNull(_ name: String) -> Bool { members[name] is NSNull }

    /// The name of the error, followed by those of its causes.
    var errorNames: [String] {
        var names: [String] = []
        var error = object("error")
        while let current = error {
            names.append(current.text("name") ?? "")
            error = current.object("cause")
        }
        return names
    }

    /// The names at the outermost level, which are the strings before a colon.
    private static func keys(of line: String) -> [String] {
        var (keys, depth, text, isInText, isEscaped) = ([String](), 0, "", false, false)
        for character in line {
            if isInText {
                if isEscaped { isEscaped = false } else if character == "\\" { isEscaped = true }
                if character == "\"", !isEscaped { isInText = false } else { text.append(character) }
                continue
            }
            switch character {
            case "\"": (isInText, text) = (true, "")
            case "{", "[": depth += 1
            case "}", "]": depth -= 1
            case ":" where depth == 1: keys.append(text)
            default: break
            }
        }
        return keys
    }
}
