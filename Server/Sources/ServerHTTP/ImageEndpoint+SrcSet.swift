import ServerImages
import ServerConfiguration
import HTTPTypes
import ServerGrammar
import WebImage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        let parts = rest[..<slash].components(of: separator)
        let widths = parts.dropFirst().compactMap { Int($0) }
        guard parts.first == "w", !widths.isEmpty, widths.count == parts.count - 1, widths.count <= Self.mostWidths,
            widths.allSatisfy({ (1...16_384).contains($0) })
        else { throw .invalidURL("/srcset must begin with w:WIDTH:WIDTH..., with at most \(Self.mostWidths) widths") }
        let tail = String(rest[rest.index(after: slash)...])
        let unsigned = try settings.grammar.parse(unsignedPath: tail)
        return try await info(.ofSets, of: unsigned, request, &record) { info throws(RequestRefusal) in
            let urls = try sizedURLs(tail, widths.sorted(), info)
            let members: [(String, JSONValue)] = [
                ("src", .text(urls[urls.count - 1].url)),
                ("srcset", .text(urls.map { "\($0.url) \($0.width)w" }.joined(separator: ", "))),
            ]
            return Array(JSONValue.object(members, before: info.bytes).utf8)
        }
    }

    /// A signed URL for each width that the picture can have; of widths that give the same result, the least. A small
    /// source that is not to be enlarged does not reach them all: the last URL then comes with the width it does reach.
    ///
    /// - Parameter info: what is known of the picture.
    private func sizedURLs(
        _ path: String, _ widths: [Int], _ info: StoredResult
    ) throws(RequestRefusal) -> [(width: Int, url: String)] {
        let source = info.describedSource
        var urls: [(width: Int, url: String)] = []
        for width in widths {
            let option = "w\(settings.grammar.argumentsSeparator)\(width)"
            // The width follows the other options, because later ones win, and precedes the source.
            let sized = settings.grammar.inserting(option, before: path)
            let plan = PicturePlan(try settings.grammar.parse(unsignedPath: sized), settings)
            let reached = source.flatMap { plan.resultWidth(of: $0) } ?? width
            if urls.last?.width != reached { urls.append((reached, settings.grammar.signed("/" + sized))) }
        }
        return urls
    }
}

extension StoredResult {
    /// The header of the source, if this is its description with format and pages: what decides about the sizes of
    /// results.
    fileprivate var describedSource: ImageHeader? {
        struct Description: Decodable {
            let format: ImageFormat
            let pages: Int?

            enum CodingKeys: String, CodingKey {
                case format
                case pages = "pages_number"
            }
        }
        guard let known = try? JSONDecoder().decode(Description.self, from: Data(bytes)) else { return nil }
        var header = ImageHeader(format: known.format, size: sourceSize)
        (header.frameCount, header.isVector) = (known.pages, known.format.isVector)
        return header
    }
}
