package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The picture corpus, in the folder beside the project or in the one that `WEBIMAGE_CORPUS` names. Tests that need it
/// are skipped if it is missing.
package enum Corpus {
    package static let root: String = {
        if let path = getenv("WEBIMAGE_CORPUS") { return String(cString: path) }
        let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
            separator: "/")
        return "\(package)/../shared/corpus"
    }()

    package static var isAvailable: Bool { access("\(root)/MANIFEST.csv", R_OK) == 0 }

    /// The lines of the manifest; none if the corpus is missing.
    package static let rows: [CorpusRow] = {
        guard let bytes = read("MANIFEST.csv") else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { fields(of: $0) }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { CorpusRow(Dictionary(zip(names, $0)) { first, _ in first }) }
    }()

    /// All bytes of a file of the corpus.
    package static func read(_ path: String) -> [UInt8]? { readFile("\(root)/\(path)") }

    private static func readFile(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rbe") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return bytes }
            bytes.append(contentsOf: piece.prefix(count))
        }
    }

    /// The fields of a line of CSV, quoted ones unquoted.
    private static func fields(of line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line where character != "\r" {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields
    }
}

/// A line of the manifest. The corpus's README explains the fields.
package struct CorpusRow: CustomStringConvertible, Sendable {
    private let fields: [String: String]

    init(_ fields: [String: String]) { self.fields = fields }

    package var description: String { path }
    package var path: String { fields["path"] ?? "" }
    package var format: String { fields["format"] ?? "" }
    /// `ok`, `partial` or `error`.
    package var expected: String { fields["expected"] ?? "" }
    package var byteCount: Int { integer("bytes") }
    /// The stored width in pixels.
    package var width: Int { integer("width") }
    package var height: Int { integer("height") }
    /// The size after turning and cropping.
    package var displaySize: PixelSize {
        PixelSize(width: integer("display_width"), height: integer("display_height"))
    }
    package var orientation: Int { integer("orientation") }
    package var frames: Int { integer("frames") }
    /// The stored loop count; nil if there is none.
    package var loopCount: Int? { fields["loop_count"].flatMap { Int($0) } }
    /// The number of times that the animation plays, 0 for ever. A GIF, and so the manifest, stores the number of
    /// repetitions after the first play.
    package var playCount: Int? { format == "gif" ? loopCount.map { $0 == 0 ? 0 : $0 + 1 } : loopCount }
    package var hasAlpha: Bool { integer("has_alpha") == 1 }
    package var profileCount: Int? { fields["icc_bytes"].flatMap { Int($0) } }

    /// The accepted means of premultiplied red, green and blue, and of alpha: one or two sets.
    package var accepted: [[Double]] {
        var sets = [["pm_r", "pm_g", "pm_b", "mean_a"]]
        if fields["ref_check"] == "differ" { sets.append(["alt_pm_r", "alt_pm_g", "alt_pm_b", "alt_a"]) }
        return sets.map { $0.compactMap { fields[$0].flatMap { Double($0) } } }.filter { $0.count == 4 }
    }

    private func integer(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
}
