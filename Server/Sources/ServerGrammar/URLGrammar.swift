public import WebImage

/// An option as it stands in a URL or a preset.
public struct WrittenOption: Hashable, Sendable {
    public var name: String
    public var arguments: [String]
}

/// The grammar of picture URLs: imgproxy's, with the parts that the configuration changes.
public struct URLGrammar: Sendable {
    public var argumentsSeparator = ":"
    /// The prefix of every path, without a trailing slash. Default none.
    public var pathPrefix = ""
    public var signatures = SignatureCheck()
    /// Lists of options by name; `default` is used in every URL.
    public internal(set) var presets: [String: [WrittenOption]] = [:]
    /// Whether the first part of a path lists presets, and there are no options.
    public var onlyPresets = false
    /// The names that URLs may use, long and short ones listed separately; nil: all.
    public var allowedOptions: Set<String>?
    public var allowsSecurityOptions = false
    /// Whether the last part of a base64 source is a file name for search engines, which is ignored.
    public var base64IncludesFilename = false
    public var replacements: [URLReplacement] = []
    /// Prepended to source URLs that do not begin with it.
    public var baseURL = ""
    /// The prefixes of source URLs that are served. Empty: all.
    public var allowedSources: [WildcardPattern] = [] {
        didSet { allowedRequests = allowedSources.map(\.inNormalForm) }
    }
    /// The same for URLs in normal form.
    private var allowedRequests: [WildcardPattern] = []
    /// Seconds since 1970.
    public var now: @Sendable () -> Int = { 0 }

    public init() {}

    /// The parsed content of a URL.
    public struct ParsedURL: Hashable, Sendable {
        public var options: ProcessingOptions
        /// The URL of the source.
        public var source: String
        /// The client's cookies that are sent to the origin of the source. The result is then for this client alone.
        public var cookies: String?
        /// Whether cookies of clients are sent there, if they have any. The result then depends on them.
        public var mayHaveCookies = false
        /// The place of the key, among those of the configuration, with which the URL is signed; nil: none.
        public var signer: Int?

        /// A source with no options.
        public init(source: String) {
            self.init(options: ProcessingOptions(), source: source)
        }

        init(options: ProcessingOptions, source: String) {
            self.options = options
            self.source = source
        }

        /// Identifies the source; includes the cookies, because the origin may answer differently for them.
        public var sourceName: String { cookies.map { "\(source)\ncookies \($0)" } ?? source }
    }

    /// - Parameter target: the request target: `/signature/options/source`.
    public func parse(target: some StringProtocol) throws(RequestRefusal) -> ParsedURL {
        let signed = try SignedPath(target: target, prefix: pathPrefix)
        return try parse(signed)
    }

    /// Checks the signature, and parses the rest of the same bytes.
    public func parse(_ path: SignedPath) throws(RequestRefusal) -> ParsedURL {
        let rest = path.mended(separator: argumentsSeparator)
        let signer = try signatures.check(path.signature, of: "/" + rest)
        var url = try read(rest)
        url.signer = signer
        return url
    }

    /// - Parameter path: everything after the signature and its slash.
    func read(_ path: String) throws(RequestRefusal) -> ParsedURL {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var reader = OptionReader(self)
        if presets["default"] != nil { try reader.apply(preset: "default") }
        let rest: ArraySlice<Substring>
        if onlyPresets {
            for name in (segments.first ?? "").components(of: argumentsSeparator) { try reader.apply(preset: name) }
            rest = segments.dropFirst()
        } else {
            rest = try readOptions(segments, &reader)
        }
        var options = reader.options
        let (source, suffix) = try SourceText(self, isRaw: options.raw).read(Array(rest))
        if let suffix {
            guard let format = ResultFormat(name: suffix) else {
                throw .invalidURL("there is no format \(String(suffix.prefix(80)))")
            }
            options.format = format
        }
        return ParsedURL(options: options, source: source)
    }

    private func readOptions(
        _ segments: [Substring], _ reader: inout OptionReader
    ) throws(RequestRefusal) -> ArraySlice<Substring> {
        if let first = segments.first, ["fit", "fill", "fill-down", "force", "auto"].contains(first) {
            throw .invalidURL("the path begins with a resizing type, as imgproxy's old basic URLs do")
        }
        var count = 0
        while count < segments.count {
            let parts = segments[count].components(of: argumentsSeparator)
            if parts.count == 1 { break }
            try reader.apply(WrittenOption(name: parts[0], arguments: Array(parts.dropFirst())))
            count += 1
        }
        return segments[count...]
    }

    /// The URL of the source that a picture's URL names by a text, once that is decoded: the base URL and replacements of
    /// the configuration are applied.
    public func source(named text: String) -> String { SourceText(self).whole(text) }

    /// Whether the source of a client's URL is allowed, as it is written there.
    public func allows(source: String) -> Bool { allows(source, by: allowedSources) }

    /// Whether a URL may be requested: that of a source or the target of a redirect.
    ///
    /// - Parameter url: in the library's normal form, which may differ from what the client has written.
    public func allows(request url: String) -> Bool { allows(url, by: allowedRequests) }

    /// A path with segments of dots would lead elsewhere than its text says.
    private func allows(_ url: String, by patterns: [WildcardPattern]) -> Bool {
        if patterns.isEmpty { return true }
        return SourceURL(url)?.hasDotSegments != true && patterns.contains { $0.matches(url) }
    }

    /// - Returns: the path of a URL with its signature: `/signature/options/source`.
    /// - Parameter path: options and source, also behind `/info` or `/srcset`.
    public func signed(_ path: String) -> String {
        let path = path.hasPrefix("/") ? path : "/" + path
        let room = [Self.infoPath, Self.setsPath].first { path.hasPrefix($0 + "/") } ?? ""
        let rest = String(path.dropFirst(room.count))
        let signature = signatures.keys.first?.signature(
            of: room == Self.setsPath ? path : rest, size: signatures.size)
        return pathPrefix + room + "/" + (signature ?? "_") + rest
    }

    public static let infoPath = "/info"
    /// Where sets of URLs are made. It is a part of what is signed: the signature of a single picture must not open the
    /// pictures that other options or presets would make.
    public static let setsPath = "/srcset"
}

/// The path of a URL, split into its signature and the rest.
public struct SignedPath: Hashable, Sendable {
    public let signature: Substring
    public let rest: Substring

    /// - Parameters:
    ///   - target: the request target, with its query.
    ///   - prefix: is removed. A path that does not begin with it is refused.
    public init(target: some StringProtocol, prefix: String = "") throws(RequestRefusal) {
        var path = Substring(target).prefix { $0 != "?" }
        if !prefix.isEmpty {
            guard path.hasPrefix(prefix) else { throw .invalidURL("the path does not begin with \(prefix)") }
            path = path.dropFirst(prefix.count)
        }
        if path.hasPrefix("/") { path = path.dropFirst() }
        guard let slash = path.firstIndex(of: "/") else {
            throw .invalidURL("the path has nothing after the signature")
        }
        signature = path[..<slash]
        // A second slash is not a part of the path, and was not signed.
        path = path[path.index(after: slash)...]
        rest = path.hasPrefix("/") ? path.dropFirst() : path
        guard !signature.isEmpty, !rest.isEmpty else {
            throw .invalidURL("the path has no signature, or nothing after it")
        }
    }

    /// Undoes what proxies do to the path: they encode colons in the options, and merge the two slashes of the source.
    func mended(separator: String) -> String {
        let marker: Substring = "plain/"
        var options = rest
        var source: Substring?
        if rest.hasPrefix(marker) {
            (options, source) = ("", rest.dropFirst(marker.count))
        } else if let start = rest.firstRange(of: "/plain/") {
            options = rest[..<rest.index(after: start)]
            source = rest[start...].dropFirst(7)
        }
        let mendedOptions = options.replacingColons
        guard let source else { return mendedOptions }
        return mendedOptions + marker + Self.mended(source: source)
    }

    /// `http:/host` is `http://host`; `local:/path` is `local:///path`.
    private static func mended(source: Substring) -> String {
        guard let colon = source.firstIndex(of: ":") else { return String(source) }
        let scheme = source[..<colon]
        let path = source[source.index(after: colon)...]
        guard let first = scheme.first, first.isLetter,
            scheme.allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) }),
            path.hasPrefix("/"), !path.hasPrefix("//"), path.count > 1
        else { return String(source) }
        return scheme + (scheme == "local" ? "://" : ":/") + path
    }
}

extension Substring {
    fileprivate var replacingColons: String {
        String(self).replacing("%3A", with: ":").replacing("%3a", with: ":")
    }

    /// The first occurrence of a text.
    fileprivate func firstRange(of text: String) -> Index? {
        let wanted = Array(text.utf8)
        var index = utf8.startIndex
        while index < utf8.endIndex {
            if utf8[index...].starts(with: wanted) { return index }
            utf8.formIndex(after: &index)
        }
        return nil
    }

    /// The parts between separators, including empty ones.
    package func components(of separator: String) -> [String] {
        if separator.utf8.count == 1, let character = separator.first {
            return split(separator: character, omittingEmptySubsequences: false).map(String.init)
        }
        var parts: [String] = []
        var rest = self
        while let start = rest.firstRange(of: separator) {
            parts.append(String(rest[..<start]))
            rest = rest[start...].dropFirst(separator.count)
        }
        return parts + [String(rest)]
    }
}

// MARK: - For paths that are no pictures

extension URLGrammar {
    /// The signed text of a path, without its first slash.
    public func signedText(_ path: SignedPath) -> String { path.mended(separator: argumentsSeparator) }

    /// - Parameter room: what precedes the signature in the path, and is signed as well.
    /// - Returns: see ``ParsedURL/signer``.
    /// - Throws: 403 if the signature is not that of the path.
    public func check(_ path: SignedPath, under room: String = "") throws(RequestRefusal) -> Int? {
        try signatures.check(path.signature, of: room + "/" + signedText(path))
    }

    /// - Parameter path: options and source; their signature was checked as a part of another path.
    public func parse(unsignedPath path: String) throws(RequestRefusal) -> ParsedURL { try read(path) }

    /// Checks the signature, and reads the source that follows options other than those of pictures.
    public func parseSource(
        _ path: SignedPath, _ separator: String
    ) throws(RequestRefusal) -> (source: ParsedURL, options: [(name: Substring, arguments: [Substring])]) {
        let signer = try check(path)
        let segments = signedText(path).split(separator: "/", omittingEmptySubsequences: false)
        var options: [(name: Substring, arguments: [Substring])] = []
        for segment in segments {
            let parts = segment.components(of: separator)
            if parts.count == 1 { break }
            options.append((parts[0][...], parts.dropFirst().map { $0[...] }))
        }
        let (text, _) = try SourceText(self).read(Array(segments.dropFirst(options.count)))
        var source = ParsedURL(source: text)
        source.signer = signer
        return (source, options)
    }

    /// Parses the arguments of `crop`.
    public func crop(_ arguments: [Substring]) throws(RequestRefusal) -> ImgproxyGeometry {
        guard !arguments.isEmpty else { throw .invalidURL("crop needs a width") }
        var reader = OptionReader(self)
        try reader.apply(WrittenOption(name: "crop", arguments: arguments.map(String.init)), isPreset: true)
        return reader.options.geometry
    }

    /// The path with one more option after its own.
    public func inserting(_ option: String, before path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let count = segments.prefix { $0.components(of: argumentsSeparator).count > 1 }.count
        return (segments[..<count] + [option[...]] + segments[count...]).joined(separator: "/")
    }
}
