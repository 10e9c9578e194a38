extension URLGrammar {
    /// Adds presets, each as `name=option:argument/option:argument`, and checks them.
    ///
    /// - Throws: a sentence that names the preset and its problem.
    public mutating func addPresets(_ texts: [String]) throws(PresetError) {
        for text in texts where !text.hasPrefix("#") {
            guard let equals = text.firstIndex(of: "=") else {
                throw PresetError("a preset must be name=options, not \(text)")
            }
            let name = text[..<equals].trimmed
            let list = text[text.index(after: equals)...].trimmed
            guard !name.isEmpty, !list.isEmpty else {
                throw PresetError("the preset \(text) has no name or no options")
            }
            var options: [WrittenOption] = []
            for written in list.split(separator: "/", omittingEmptySubsequences: false) {
                let parts = written.components(of: argumentsSeparator)
                guard parts.count > 1 else { throw PresetError("the preset \(name): \(written) is not an option") }
                options.append(WrittenOption(name: parts[0], arguments: Array(parts.dropFirst())))
            }
            presets[String(name)] = options
        }
        for name in presets.keys.sorted() {
            var reader = OptionReader(self)
            do throws(RequestRefusal) {
                try reader.apply(preset: name)
            } catch {
                throw PresetError("the preset \(name): \(error.detail)")
            }
        }
    }

    /// - Returns: the presets in the text of a file: one a line, with `#` before comments.
    public static func presets(inFile text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map(\.trimmed)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }.map(String.init)
    }
}

/// Presets that cannot be used.
public struct PresetError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

extension Substring {
    /// The text without white space around it.
    package var trimmed: Substring {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
