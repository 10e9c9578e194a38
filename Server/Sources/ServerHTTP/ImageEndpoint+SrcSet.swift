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
    private static let maxWidths = 32

    /// One of the pictures that a set may consist of.
    private struct Candidate {
        /// Options and source.
        var path: String
        var url: URLGrammar.ParsedURL
    }

    /// Returns signed URLs of a picture in several widths, as JSON: `/srcset/SIGNATURE/w:320:640/OPTIONS/SOURCE`. With
    /// `IMGPROXY_ONLY_PRESETS` it is `/srcset/SIGNATURE/PRESET:PRESET/SOURCE`, with a picture for each preset.
    ///
    /// The signature covers the path without it: `/srcset/w:320:640/OPTIONS/SOURCE`.
    func srcset(
        _ path: Substring, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        let signed = try SignedPath(target: path)
        let signer = try settings.grammar.check(signed, under: URLGrammar.setsPath)
        let rest = settings.grammar.signedText(signed)
        guard let slash = rest.firstIndex(of: "/") else { throw .invalidURL("/srcset has no source") }
        let (first, tail) = (rest[..<slash], String(rest[rest.index(after: slash)...]))
        let candidates = try settings.grammar.onlyPresets ? presets(first, of: tail) : widths(first, of: tail)
        var picture = candidates[0].url
        picture.signer = signer
        return try await info(.ofSets, of: picture, request, &record) { info throws(RequestRefusal) in
            let urls = try sizedURLs(candidates, info)
            let members: [(String, JSONValue)] = [
                ("src", .text(urls[urls.count - 1].url)),
                ("srcset", .text(urls.map { "\($0.url) \($0.width)w" }.joined(separator: ", "))),
            ]
            return Array(JSONValue.object(members, before: info.bytes).utf8)
        }
    }

    private func widths(_ list: Substring, of tail: String) throws(RequestRefusal) -> [Candidate] {
        let separator = settings.grammar.argumentsSeparator
        let parts = list.components(of: separator)
        let widths = parts.dropFirst().compactMap { Int($0) }
        guard parts.first == "w", !widths.isEmpty, widths.count == parts.count - 1, widths.count <= Self.maxWidths,
            widths.allSatisfy({ (1...16_384).contains($0) })
        else { throw .invalidURL("/srcset must begin with w:WIDTH:WIDTH..., with at most \(Self.maxWidths) widths") }
        // The width follows the other options, because later ones win, and precedes the source.
        return try widths.sorted().map { width throws(RequestRefusal) in
            try candidate(settings.grammar.inserting("w\(separator)\(width)", before: tail))
        }
    }

    private func presets(_ list: Substring, of tail: String) throws(RequestRefusal) -> [Candidate] {
        let names = list.components(of: settings.grammar.argumentsSeparator)
        guard names.count <= Self.maxWidths, names.allSatisfy({ settings.grammar.presets[$0] != nil }) else {
            throw .invalidURL(
                "with IMGPROXY_ONLY_PRESETS, /srcset must begin with the names of presets, at most \(Self.maxWidths), "
                    + "one for each picture")
        }
        return try names.map { name throws(RequestRefusal) in try candidate("\(name)/\(tail)") }
    }

    private func candidate(_ path: String) throws(RequestRefusal) -> Candidate {
        Candidate(path: path, url: try settings.grammar.parse(unsignedPath: path))
    }

    /// Returns a signed URL for each width that the picture can have. If several candidates give the same width, the
    /// first is used. A small source that is not to be enlarged does not reach all widths: the last URL then states the
    /// width that it does reach.
    ///
    /// - Parameter info: the description of the source.
    private func sizedURLs(
        _ candidates: [Candidate], _ info: StoredResult
    ) throws(RequestRefusal) -> [(width: Int, url: String)] {
        let source = info.describedSource
        var urls: [Int: String] = [:]
        for candidate in candidates {
            let asked = candidate.url.options.geometry.width
            let reached = source.flatMap { PicturePlan(candidate.url, settings).resultWidth(of: $0) } ?? asked
            guard reached > 0, urls[reached] == nil else { continue }
            urls[reached] = settings.grammar.signed("/" + candidate.path)
        }
        if urls.isEmpty {
            throw .invalidURL("the widths of the pictures are not known before they are made: set a width in a preset")
        }
        return urls.sorted { $0.key < $1.key }.map { (width: $0.key, url: $0.value) }
    }
}

extension StoredResult {
    /// The header of the source, if this result is a description of it with format and pages. These and the size
    /// determine the sizes of results.
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
