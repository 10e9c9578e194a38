import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import WebImage

extension ImageEndpoint {
    /// Describes a picture as JSON: `/info/SIGNATURE/OPTIONS/SOURCE`.
    func info(
        _ path: some StringProtocol, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        let signed = try SignedPath(target: path, prefix: settings.grammar.pathPrefix)
        let separator = settings.grammar.argumentsSeparator
        // The signature covers the whole path; the options of `/info` differ from those of pictures.
        let (url, written) = try settings.grammar.parseSource(signed, separator)
        return try await info(InfoOptions(written, settings.grammar), of: url, request, &record, \.bytes)
    }

    /// - Parameters:
    ///   - picture: only its source and its expiry are used.
    ///   - change: converts the stored JSON into the body of the answer.
    func info(
        _ options: InfoOptions, of picture: URLGrammar.ParsedURL, _ request: HTTPRequest, _ record: inout RequestRecord,
        _ change: (StoredResult) throws(RequestRefusal) -> [UInt8]
    ) async throws(RequestRefusal) -> Answer {
        let source = picture.source
        guard settings.grammar.allows(source: source) else { throw .invalidSource("the source is not allowed") }
        try SourceRequest.check(source, settings)
        var url = URLGrammar.ParsedURL(source: source)
        (url.options.expires, url.signer) = (picture.options.expires, picture.signer)
        addCookies(of: request, record, to: &url)
        var found = try await service.find(options, of: url, client: record.client?.key)
        record.take(found, SourceURL(source)?.host)
        found.result.replaceBytes(try change(found.result))
        var answer = ResultAnswer(settings: settings, url: url, now: now()).answer(found, request.headerFields)
        answer.fields[.contentDisposition] = nil
        return answer
    }
}
