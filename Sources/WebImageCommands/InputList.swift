import ArgumentParser
import Foundation

/// Reads lists of inputs.
enum InputList {
    static func read(_ path: String?) throws -> [String] {
        guard let path else { return [] }
        let data: Data
        do {
            // The list may also be a pipe or a device.
            let file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            data = try file.readToEnd() ?? Data()
        } catch {
            let name = path == "-" ? "standard input" : "the file"
            throw ValidationError("--input-list \(path): \(name) cannot be read")
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.drop { $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
