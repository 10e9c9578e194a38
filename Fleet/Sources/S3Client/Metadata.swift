import S3Signing

/// The rules for what is said about an object besides its bytes.
enum Metadata {
    /// Names and values together have so many bytes at most (AWS, "User-defined object metadata").
    static let most = 2048

    /// - Throws: `invalid`, which names no value.
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

    /// A value must come back as it was given: HTTP takes blanks at its ends away.
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
