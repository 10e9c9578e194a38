import S3Signing

/// The rules for the metadata of objects.
enum Metadata {
    /// The maximum length of all names and values together, in bytes (AWS, "User-defined object metadata").
    static let most = 2048

    /// - Throws: `invalid`. The error does not repeat a value.
    static func headers(_ metadata: [(String, String)]) throws(S3Error) -> [S3Field] {
        var (headers, names, count) = ([S3Field](), Set<String>(), 0)
        for (name, value) in metadata {
            let name = name.lowercased()
            guard isName(name), names.insert(name).inserted else {
                throw .invalid("A name of metadata is used twice, or has more than letters, digits and hyphens.")
            }
            try checkValue(value)
            count += name.utf8.count + value.utf8.count
            headers.append(S3Field(S3Object.metadataPrefix + name, value))
        }
        guard count <= most else { throw .invalid("Metadata of S3 has more than \(most) bytes.") }
        return headers
    }

    /// Checks that a value is stored unchanged: HTTP removes blanks at its ends.
    static func checkValue(_ value: String) throws(S3Error) {
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), value.first != " ", value.last != " " else {
            throw .invalid("A header of S3 has a character that is not printable ASCII, or a blank at an end.")
        }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
