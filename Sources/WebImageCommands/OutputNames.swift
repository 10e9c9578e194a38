import Foundation
import WebImage

/// Names for outputs in a folder, made from the last part of each input. Each name is used once.
struct OutputNames {
    private var used: Set<String> = []
    /// The next number for names that several inputs share.
    private var numbers: [String: Int] = [:]

    /// - Parameters:
    ///   - fileExtension: replaces the input's; nil keeps the input's.
    ///   - isWrittenAnew: whether the picture is encoded. A picture in a format without an encoder, such as SVG,
    ///     becomes a PNG.
    mutating func next(for input: String, fileExtension: String?, isWrittenAnew: Bool = false) -> String {
        var (stem, suffix) = Self.parts(of: input)
        if isWrittenAnew, Self.isOnlyRead(suffix) { suffix = "png" }
        if let fileExtension { suffix = fileExtension }
        let dotted = suffix.isEmpty ? "" : ".\(suffix)"
        let first = stem + dotted
        // Some file systems do not distinguish upper and lower case.
        if used.insert(first.lowercased()).inserted { return first }
        var number = numbers[first.lowercased()] ?? 2
        defer { numbers[first.lowercased()] = number }
        while true {
            let name = "\(stem)-\(number)\(dotted)"
            number += 1
            if used.insert(name.lowercased()).inserted { return name }
        }
    }

    /// Whether pictures with an extension can only be read. Most files named HEIF are HEICs, which can be written.
    private static func isOnlyRead(_ fileExtension: String) -> Bool {
        guard let format = ImageFormat(name: fileExtension.lowercased()).map(PictureEncoding.encoded) else {
            return false
        }
        return !ImageFormat.written.contains(format) && format != .heif
    }

    private static func parts(of input: String) -> (stem: String, fileExtension: String) {
        if input == "-" { return ("stdin", "") }
        if input.prefix(5).lowercased() == "data:" { return ("data", suffix(ofDataURL: input)) }
        var path = input[...]
        if let scheme = input.range(of: "://") {
            path = path[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
            path = path.firstIndex(of: "/").map { path[$0...] } ?? ""
        }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let decoded = path.startIndex == input.startIndex ? last : last.removingPercentEncoding ?? last
        var cleaned = String.UnicodeScalarView()
        for scalar in decoded.unicodeScalars {
            let isUnsafe = scalar == "/" || scalar == "\\" || scalar.properties.generalCategory == .control
            cleaned.append(isUnsafe ? "_" : scalar)
        }
        return split(String(cleaned))
    }

    private static func split(_ name: String) -> (stem: String, fileExtension: String) {
        guard !name.isEmpty, name != ".", name != ".." else { return ("image", "") }
        // A name of dots alone has no extension: without its last dot it could name the parent folder.
        guard let dot = name.lastIndex(of: "."), name[..<dot].contains(where: { $0 != "." }) else {
            return (short(name), "")
        }
        let suffix = String(name[name.index(after: dot)...])
        return suffix.utf8.count > 10 ? (short(name), "") : (short(String(name[..<dot])), suffix)
    }

    private static func suffix(ofDataURL input: String) -> String {
        let type = input.dropFirst(5).prefix(40).prefix { $0 != ";" && $0 != "," }.lowercased()
        let name = type.split(separator: "/").last?.prefix { $0 != "+" } ?? ""
        return ImageFormat(name: String(name))?.fileExtension ?? ""
    }

    /// Shortens a name, so that it stays below the 255 bytes that a name may have.
    private static func short(_ stem: String) -> String {
        guard stem.utf8.count > 200 else { return stem }
        var scalars = String.UnicodeScalarView()
        var length = 0
        for scalar in stem.unicodeScalars {
            length += String(scalar).utf8.count
            if length > 200 { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
