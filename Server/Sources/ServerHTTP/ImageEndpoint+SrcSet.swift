import ServerImages
import ServerConfiguration
import HTTPTypes
import ServerGrammar
import WebImage

extension ImageEndpoint {
    private static let mostWidths = 32

    /// Returns signed URLs of a picture in several widths, as JSON: `/srcset/SIGNATURE/w:320:640/OPTIONS/SOURCE`.
    ///
    /// The signature covers the whole rest: `/w:320:640/OPTIONS/SOURCE`.
    func srcset(
        _ path: Substring, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        let signed = try SignedPath(target: path)
        try settings.grammar.check(signed)
        let separator = settings.grammar.argumentsSeparator
        let rest = settings.grammar.signedText(signed)
        guard let slash = rest.firstIndex(of: "/") else { throw .invalidURL("/srcset has no source") }
        let parts = rest[..<slash].split(separator: Character(separator.isEmpty ? ":" : String(separator.first ?? ":")))
        let widths = parts.dropFirst().compactMap { Int($0) }
        guard parts.first == "w", !widths.isEmpty, widths.count == parts.count - 1, widths.count <= Self.mostWidths,
            widths.allSatisfy({ (1...16_384).contains($0) })
        else { throw .invalidURL("/srcset must begin with w:WIDTH:WIDTH..., with at most \(Self.mostWidths) widths") }
        let tail = rest[rest.index(after: slash)...]
        var urls: [(width: Int, url: String)] = []
        for width in widths.sorted() {
            let option = "w\(separator)\(width)"
            // The width follows the other options, because later ones win, and precedes the source.
            let path = "/" + settings.grammar.inserting(option, before: String(tail))
            urls.append((width, settings.grammar.signed(path)))
        }
        let unsigned = try settings.grammar.parse(unsignedPath: String(tail))
        let members: [(String, JSONValue)] = [
            ("src", .text(urls[urls.count - 1].url)),
            ("srcset", .text(urls.map { "\($0.url) \($0.width)w" }.joined(separator: ", "))),
        ]
        return try await info(.ofSets, of: unsigned, request, &record) { info in
            Array(JSONValue.object(members, before: info).utf8)
        }
    }
}
