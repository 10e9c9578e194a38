import ArgumentParser
import Foundation

/// Reads lists of inputs.
enum InputList {
    static func read(_ path: String?) throws -> [String] {
        guard let path else { return [] }
        let data: Data
        if path == "-" {
            data = FileHandle.standardInput.readDataToEndOfFile()
        } else {
            // Pipes and devices too.
            do {
                data = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data()
            } catch {
                throw ValidationError("--input-list \(path): the file cannot be read")
            }
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.drop { $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
