import ServerImages
import ServerConfiguration
import HTTPTypes
import ServerGrammar
import WebImage

/// What `/info` is asked for.
struct InfoOptions: Sendable {
    var size = true
    var format = true
    var dimensions = true
    var pages = false
    var alpha = false
    var average = false
    var palette = 0
    var blurHash: (x: Int, y: Int)?
    var thumbHash = false

    /// Whether pixels must be decoded.
    var needsPixels: Bool { average || palette > 0 || blurHash != nil || thumbHash }

    /// Takes the options off the front of a path.
    ///
    /// - Returns: nil where the path has a segment that is no option of `/info`.
    init(_ options: [(name: Substring, arguments: [Substring])]) throws(RequestRefusal) {
        for (name, arguments) in options {
            let isOn = ["1", "t", "true", "True", "TRUE", "T"].contains(arguments.first ?? "1")
            switch name {
            case "size", "s": size = isOn
            case "format", "f": format = isOn
            case "dimensions", "d": dimensions = isOn
            case "pages_number", "pn": pages = isOn
            case "alpha", "a": alpha = isOn
            case "average", "avg": average = isOn
            case "palette", "p":
                palette = try Self.whole(arguments.first ?? "", in: 0...64, name)
                if palette == 1 { throw .invalidURL("palette: at least 2 colours") }
            case "blurhash", "bh":
                guard arguments.count == 2 else { throw .invalidURL("blurhash wants two numbers") }
                let x = try Self.whole(arguments[0], in: 0...9, name)
                let y = try Self.whole(arguments[1], in: 0...9, name)
                blurHash = x > 0 && y > 0 ? (x, y) : nil
            case "thumb_hash", "th": thumbHash = isOn
            case "cachebuster", "cb": break
            default: throw .invalidURL("/info has no option \(String(name.prefix(80)))")
            }
        }
    }

    private static func whole(
        _ text: Substring, in range: ClosedRange<Int>, _ name: Substring
    ) throws(RequestRefusal) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw .invalidURL(
                "\(name): \(String(text.prefix(80))) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

extension ImageEndpoint {
    /// What a picture is, as JSON: `/info/SIGNATURE/OPTIONS/SOURCE`.
    func info(
        _ path: some StringProtocol, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        let signed = try SignedPath(target: path, prefix: settings.grammar.pathPrefix)
        let separator = settings.grammar.argumentsSeparator
        // The signature is checked with the whole path; the options of `/info` are others than those of pictures.
        let (url, written) = try settings.grammar.parseSource(signed, separator)
        guard settings.allows(source: url) else { throw .invalidSource("the source is not allowed") }
        let options = try InfoOptions(written)
        record.sourceHost = SourceHost.name(of: url)
        let cookies = cookies(request, record, url)
        return json(try await describe(url, cookies, options, client: record.client?.key), isPersonal: cookies != nil)
    }

    /// - Parameter isPersonal: whether it is for this client alone.
    func json(_ members: [(String, JSONValue)], isPersonal: Bool) -> Answer {
        var answer = Answer.text(JSONValue.object(members).text, type: "application/json")
        answer.fields[.cacheControl] =
            settings.timeToLive > 0
            ? "max-age=\(settings.timeToLive), \(isPersonal ? "private" : "public")" : "no-cache"
        return answer
    }

    /// What is asked of a picture. It takes a place among the pictures that are made.
    func describe(
        _ url: String, _ cookies: String?, _ options: InfoOptions, client: String?
    ) async throws(RequestRefusal) -> [(String, JSONValue)] {
        var request = try SourceRequest.make(url, cookies: cookies, settings) {
            $0.caching.policy = .protocol
            $0.decoding.limits.pixels = Int(settings.limits.sourceResolution * 1_000_000)
        }
        try await service.admit(client)
        service.purging.prepare(&request, url)
        return try await service.inTurn(url) { [request] _, left throws(RequestRefusal) in
            do throws(WebImageError) {
                return (try await members(request, options, timeout: left), nil)
            } catch {
                throw RequestRefusal(error, source: url)
            }
        }
    }

    private func members(
        _ request: ImageRequest, _ options: InfoOptions, timeout: Duration
    ) async throws(WebImageError) -> [(String, JSONValue)] {
        let manager = service.maker.manager
        var request = request
        request.options.timeout = timeout
        let details = try await manager.details(for: request)
        let header = details.header
        var members: [(String, JSONValue)] = []
        if options.format {
            members.append(("format", .text(header.format.rawValue)))
            if let type = header.format.mimeType { members.append(("mime_type", .text(type))) }
        }
        if options.dimensions {
            members += [("width", .whole(header.displaySize.width)), ("height", .whole(header.displaySize.height))]
        }
        if options.size, let bytes = details.byteCount { members.append(("size", .whole(Int(bytes.bytes)))) }
        if options.pages, let count = header.frameCount { members.append(("pages_number", .whole(count))) }
        if options.alpha {
            members.append(("alpha", .object([("has_alpha", .flag(header.hasAlpha))])))
        }
        guard options.needsPixels else { return members }
        request.options.size = TargetSize(width: 100, height: 100)
        request.options.decoding.firstFrameOnly = true
        request.options.caching.store = []
        let image = try await manager.image(for: request).image
        if options.average || options.palette > 0 {
            let colors = try ImageColors(of: image, count: max(options.palette, 1))
            if options.average, let average = colors.average { members.append(("average", Self.color(average))) }
            if options.palette > 0 { members.append(("palette", .list(colors.palette.map { Self.color($0.color) }))) }
        }
        if let components = options.blurHash {
            members.append(("blurhash", .text(try BlurHash(of: image, components: components).text)))
        }
        if options.thumbHash {
            let digits = try ThumbHash(of: image).bytes.map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            members.append(("thumb_hash", .text(digits.joined())))
        }
        return members
    }

    private static func color(_ color: RGBColor) -> JSONValue {
        .object([("R", .whole(Int(color.red))), ("G", .whole(Int(color.green))), ("B", .whole(Int(color.blue)))])
    }
}
