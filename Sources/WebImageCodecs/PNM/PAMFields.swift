import WebImageCore

/// Reads the lines of a PAM header, byte by byte.
struct PAMFields {
    /// Programs do not write longer lines; a comment may be longer.
    private static let longestLine = 1024
    /// Channels by the tuple type.
    private static let channels = [
        "BLACKANDWHITE": 1, "GRAYSCALE": 1, "RGB": 3, "BLACKANDWHITE_ALPHA": 2, "GRAYSCALE_ALPHA": 2, "RGB_ALPHA": 4,
    ]

    private var line: [UInt8] = []
    private var values: [String: Int] = [:]
    private var type = ""

    /// - Returns: the header with the last byte of its last line.
    mutating func push(_ byte: UInt8) throws(WebImageError) -> PNMHeader? {
        guard byte == 10 else {
            // The first byte identifies a comment.
            if line.first != UInt8(ascii: "#") { line.append(byte) }
            guard line.count <= Self.longestLine else { throw PNMHeader.corrupt("a line of its header is too long") }
            return nil
        }
        let words = line.split { PNMHeader.isSpace($0) }.map { String(decoding: $0, as: UTF8.self) }
        line = []
        guard let keyword = words.first, !keyword.hasPrefix("#") else { return nil }
        switch keyword {
        case "ENDHDR": return try header()
        case "TUPLTYPE": type += (type.isEmpty ? "" : " ") + words.dropFirst().joined(separator: " ")
        case "WIDTH", "HEIGHT", "DEPTH", "MAXVAL":
            guard words.count == 2, values[keyword] == nil else {
                throw PNMHeader.corrupt("its header says \(keyword) twice or without one number")
            }
            var number: Int?
            for digit in words[1].utf8 { number = try PNMHeader.append(digit, to: number) }
            values[keyword] = number
        default: throw PNMHeader.corrupt("its header has an unknown line")
        }
        guard type.utf8.count <= Self.longestLine else { throw PNMHeader.corrupt("its tuple type is too long") }
        return nil
    }

    private func header() throws(WebImageError) -> PNMHeader {
        guard let width = values["WIDTH"], let height = values["HEIGHT"], let depth = values["DEPTH"],
            let most = values["MAXVAL"]
        else { throw PNMHeader.corrupt("its header is not complete") }
        // Without a type, the depth determines the channels (pam(5): the type is optional).
        guard let channels = type.isEmpty ? depth : Self.channels[type], (1...4).contains(channels) else {
            throw WebImageError(
                .unsupportedFeature, "PAM pictures of this type with \(depth) channels are not read", format: .pnm)
        }
        guard channels == depth else { throw PNMHeader.corrupt("its type \(type) does not have \(depth) channels") }
        return PNMHeader(
            samples: .bytes, size: PixelSize(width: width, height: height), channels: channels,
            most: try PNMHeader.checked(most: most))
    }
}
