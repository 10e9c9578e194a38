/// An error in the text of a chain of transforms.
public struct TransformSyntaxError: Error, Hashable, Sendable {
    /// What is wrong, in a sentence.
    public let message: String
    /// The whole text.
    public let text: String
    /// The part of the text that is wrong, in UTF-8 bytes from its start; empty if something is missing there.
    public let range: Range<Int>

    init(_ message: String, in text: String, at range: Range<Int>) {
        self.message = message
        self.text = text
        self.range = range
    }

    /// The text, and below it a mark at the position of the error.
    public var excerpt: String {
        let utf8 = Array(text.utf8)
        let start = min(max(range.lowerBound, 0), utf8.count)
        let end = min(max(range.upperBound, start), utf8.count)
        let before = String(decoding: utf8[..<start], as: UTF8.self).count
        let marked = max(String(decoding: utf8[start..<end], as: UTF8.self).count, 1)
        return text + "\n" + String(repeating: " ", count: before) + String(repeating: "^", count: marked)
    }
}

extension TransformSyntaxError: CustomStringConvertible {
    public var description: String { message + "\n" + excerpt }
}
