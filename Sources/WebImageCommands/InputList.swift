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
            guard let read = FileManager.default.contents(atPath: path) else {
                throw ValidationError("--input-list \(path): the file cannot be read")
            }
            data = read
        }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
