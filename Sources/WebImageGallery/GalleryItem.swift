import WebImage

/// A picture that the gallery shows.
struct GalleryItem: Sendable {
    /// The caption: the last part of the path.
    let name: String
    let request: ImageRequest

    /// - Parameter text: a URL; without a scheme, a path.
    init(_ text: String) {
        var request = ImageRequest(argument: text)
        // The widths of a grid's columns differ by a pixel.
        request.caching.sizePrecision = .inexact
        self.request = request
        name = Self.name(of: text)
    }

    var url: String { request.url }

    /// The last part of a path, without a query.
    static func name(of text: String) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? text
        return last.isEmpty ? text : last
    }

    /// The inputs in a list: one on each line, without empty lines and lines that begin with `#`.
    static func inputs(in list: String) -> [String] {
        list.split(whereSeparator: \.isNewline).map { line in
            var line = Substring(line)
            if line.first == "\u{FEFF}" { line.removeFirst() }
            while line.first?.isWhitespace == true { line.removeFirst() }
            while line.last?.isWhitespace == true { line.removeLast() }
            return String(line)
        }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
