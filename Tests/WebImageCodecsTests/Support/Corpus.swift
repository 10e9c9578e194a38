import Glibc
import Testing
import WebImageCore

/// The picture corpus, which lies beside the project or where `WEBIMAGE_CORPUS` says; tests with it are left out when
/// it is not there.
enum Corpus {
    static let root: String = {
        if let path = getenv("WEBIMAGE_CORPUS") { return String(cString: path) }
        let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
            separator: "/")
        return "\(package)/../shared/corpus"
    }()

    static var isThere: Bool { access("\(root)/MANIFEST.csv", R_OK) == 0 }

    static let rows: [CorpusRow] = {
        guard let bytes = read("MANIFEST.csv") else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { fields(of: $0) }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { CorpusRow(Dictionary(zip(names, $0)) { first, _ in first }) }
    }()

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen("\(root)/\(path)", "rb") else { return nil }
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

/// A line of the manifest.
struct CorpusRow: CustomTestStringConvertible, Sendable {
    private let fields: [String: String]

    init(_ fields: [String: String]) { self.fields = fields }

    var testDescription: String { path }
    var path: String { fields["path"] ?? "" }
    var format: String { fields["format"] ?? "" }
    var expected: String { fields["expected"] ?? "" }
    var byteCount: Int { integer("bytes") }
    var width: Int { integer("width") }
    var height: Int { integer("height") }
    var displaySize: PixelSize { PixelSize(width: integer("display_width"), height: integer("display_height")) }
    var orientation: Int { integer("orientation") }
    var frames: Int { integer("frames") }
    /// nil when none is stored.
    var loopCount: Int? { fields["loop_count"].flatMap { Int($0) } }
    var hasAlpha: Bool { integer("has_alpha") == 1 }
    var profileCount: Int? { fields["icc_bytes"].flatMap { Int($0) } }
    var isOurs: Bool { ["jpeg", "png", "apng"].contains(format) }
    /// libpng does not give out a profile that cannot be one.
    var hasProfileThatIsNone: Bool { path.contains("garbage-icc") }

    /// Whether the file's first bytes say JPEG or PNG.
    var looksLikeOurs: Bool {
        guard let bytes = Corpus.read(path), let format = ImageFormat(sniffing: bytes) else { return false }
        return [.jpeg, .png, .apng].contains(format)
    }

    /// The means of premultiplied red, green and blue and of alpha that are right: one or two sets.
    var accepted: [[Double]] {
        var sets = [["pm_r", "pm_g", "pm_b", "mean_a"]]
        if fields["ref_check"] == "differ" { sets.append(["alt_pm_r", "alt_pm_g", "alt_pm_b", "alt_a"]) }
        return sets.map { $0.compactMap { fields[$0].flatMap { Double($0) } } }.filter { $0.count == 4 }
    }

    private func integer(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
}
