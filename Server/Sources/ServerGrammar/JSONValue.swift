/// A JSON value with its members in order.
public enum JSONValue: Sendable {
    case text(String)
    case whole(Int)
    case number(Double)
    case flag(Bool)
    case list([JSONValue])
    case object([(String, JSONValue)])

    public var text: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .whole(let value): "\(value)"
        case .number(let value): "\(value)"
        case .flag(let value): "\(value)"
        case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        }
    }

    /// Writes an object with the given members, followed by those of an object that is serialized already.
    public static func object(_ members: [(String, JSONValue)], before object: [UInt8]) -> String {
        let rest = String(decoding: object, as: UTF8.self).dropFirst()
        return Self.object(members).text.dropLast() + (rest == "}" || members.isEmpty ? "" : ",") + rest
    }

    public static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default:
                if scalar.value < 32 || scalar == "<" || scalar.value == 0x2028 || scalar.value == 0x2029 {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
