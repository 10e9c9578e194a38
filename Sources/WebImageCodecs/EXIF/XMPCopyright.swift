/// Extracts the copyright properties of an XMP packet (XMP specification, part 1, 7 and 8.3 to 8.4).
struct XMPCopyright {
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let core = "http://purl.org/dc/elements/1.1/"
    private static let coreNames: Set<String> = ["rights", "contributor", "creator", "publisher"]
    /// Namespaces whose properties are all kept.
    private static let whole: Set<String> = [
        "http://ns.adobe.com/xap/1.0/rights/", "http://creativecommons.org/ns#", "http://web.resource.org/cc/",
    ]
    /// The maximum depth of elements. Real packets are not nested deeper.
    private static let deepest = 32
    private static let longestName = 1024

    /// Namespaces by prefix for the whole packet: in practice a prefix always means the same.
    private var namespaces: [String: String] = [:]
    private var properties = ""
    /// The values of the current element's attributes, by name.
    private var attributes: [String: String] = [:]

    /// - Parameter packet: UTF-8; a damaged one counts as one without such properties.
    /// - Returns: a new packet; nil if there are no such properties.
    static func packet(in packet: [UInt8]) -> [UInt8]? {
        var copyright = XMPCopyright()
        let isWhole = packet.withUnsafeBytes { copyright.read($0) }
        guard isWhole, !(copyright.properties.isEmpty && copyright.attributes.isEmpty) else { return nil }
        var names = copyright.namespaces
        guard names["rdf", default: rdf] == rdf else { return nil }
        names["rdf"] = nil
        let declared = names.sorted { $0.key < $1.key }.map { " xmlns:\($0.key)=\"\($0.value)\"" }.joined()
        let values = copyright.attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\"\($0.value)\"" }.joined()
        let text = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><rdf:RDF xmlns:rdf="\(rdf)">\
            <rdf:Description rdf:about=""\(declared)\(values)>\(copyright.properties)</rdf:Description>\
            </rdf:RDF><?xpacket end="r"?>
            """
        return Array(text.utf8)
    }

    private mutating func read(_ text: UnsafeRawBufferPointer) -> Bool {
        var cursor = XMLCursor(text)
        var open: [String] = []
        // The start and depth of the property that is being read.
        var kept: (start: Int, depth: Int)?
        while true {
            while !cursor.isAtEnd, cursor.next != UInt8(ascii: "<") { cursor.at += 1 }
            guard !cursor.isAtEnd else { return open.isEmpty }
            let start = cursor.at
            if cursor.skips("<!--") {
                guard cursor.pass("-->") else { return false }
            } else if cursor.skips("<?") {
                guard cursor.pass("?>") else { return false }
            } else if cursor.skips("<![CDATA[") {
                guard cursor.pass("]]>") else { return false }
            } else if cursor.skips("</") {
                guard string(cursor.name()) == open.popLast(), cursor.passTag() else { return false }
                if let property = kept, property.depth == open.count {
                    properties += string(text[property.start..<cursor.at])
                    kept = nil
                }
            } else {
                // A document type could redefine names, so it is refused.
                guard !cursor.skips("<!"), cursor.skips("<"), open.count < Self.deepest else { return false }
                let name = name(&cursor)
                guard !name.isEmpty, let isEmpty = readAttributes(&cursor, of: name, in: open.last) else {
                    return false
                }
                let isKept = kept == nil && isDescription(open.last, in: open.dropLast().last) && keeps(name)
                if isKept { kept = (start, open.count) }
                if !isEmpty {
                    open.append(name)
                } else if isKept {
                    properties += string(text[start..<cursor.at])
                    kept = nil
                }
            }
        }
    }

    /// - Returns: whether the element is empty; nil if the tag is invalid.
    private mutating func readAttributes(_ cursor: inout XMLCursor, of element: String, in parent: String?) -> Bool? {
        let isEmpty: Bool
        var found: [(name: String, value: String)] = []
        while true {
            cursor.skipSpace()
            if cursor.skips("/>") {
                isEmpty = true
                break
            }
            if cursor.skips(">") {
                isEmpty = false
                break
            }
            let name = name(&cursor)
            cursor.skipSpace()
            guard !name.isEmpty, cursor.skips("=") else { return nil }
            cursor.skipSpace()
            guard let value = cursor.literal(), !value.contains(UInt8(ascii: "<")), !value.contains(UInt8(ascii: "\""))
            else { return nil }
            if name.hasPrefix("xmlns:") {
                guard declare(String(name.dropFirst(6)), string(value)) else { return nil }
            } else {
                found.append((name, string(value)))
            }
        }
        if isDescription(element, in: parent) {
            for (name, value) in found where keeps(name) { attributes[name] = value }
        }
        return isEmpty
    }

    /// - Returns: false if the prefix has another meaning already.
    private mutating func declare(_ prefix: String, _ namespace: String) -> Bool {
        if let known = namespaces[prefix] { return known == namespace }
        namespaces[prefix] = namespace
        return true
    }

    /// Whether the element describes the picture itself, and not one that it was made from.
    private func isDescription(_ name: String?, in parent: String?) -> Bool {
        guard let name, let parent else { return false }
        return resolved(name) == (Self.rdf, "Description") && resolved(parent) == (Self.rdf, "RDF")
    }

    private func keeps(_ name: String) -> Bool {
        let (namespace, local) = resolved(name)
        if namespace == Self.core { return Self.coreNames.contains(local) }
        return namespace.map(Self.whole.contains) ?? false
    }

    private func resolved(_ name: String) -> (namespace: String?, local: String) {
        let parts = name.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return (nil, name) }
        return (namespaces[String(parts[0])], String(parts[1]))
    }

    /// A name is taken apart once for each element within its element, so that long ones are refused: they count as
    /// missing.
    private func name(_ cursor: inout XMLCursor) -> String {
        let name = cursor.name()
        return name.count <= Self.longestName ? string(name) : ""
    }

    private func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}
