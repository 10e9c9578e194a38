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
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let reason = cause.map { ": \(String(cString: strerror(Int32($0.code))))" } ?? ""
            throw ValidationError("--input-list \(path): \(name) cannot be read\(reason)")
        }
        let text = String(decoding: data, as: UTF8.self)
        // Decoding replaces invalid bytes, so that another URL would be loaded.
        if !text.utf8.elementsEqual(data), let line = firstInvalidLine(of: data) {
            throw ValidationError("--input-list \(path): line \(line) is not valid UTF-8")
        }
        return text.drop { $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    /// The number of the first line that is not valid UTF-8.
    private static func firstInvalidLine(of data: Data) -> Int? {
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let index = lines.firstIndex { !String(decoding: $0, as: UTF8.self).utf8.elementsEqual($0) }
        return index.map { $0 + 1 }
    }
}
