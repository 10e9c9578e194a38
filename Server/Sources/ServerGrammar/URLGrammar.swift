public import WebImage

/// An option as it stands in a URL or a preset.
public struct WrittenOption: Hashable, Sendable {
    public var name: String
    public var arguments: [String]
}

/// What a server takes for a URL of a picture: imgproxy's grammar, as far as its configuration changes it.
public struct URLGrammar: Sendable {
    public var argumentsSeparator = ":"
    /// What each path begins with; without a slash at the end. Default none.
    public var pathPrefix = ""
    public var signatures = SignatureCheck()
    /// Lists of options by name; `default` is used in every URL.
    public internal(set) var presets: [String: [WrittenOption]] = [:]
    /// Whether the first part of a path lists presets, and there are no options.
    public var onlyPresets = false
    /// The names, short and long ones apart, that URLs may use; nil: all.
    public var allowedOptions: Set<String>?
    public var allowsSecurityOptions = false
    /// Whether the last part of a source in base64 is a file name for robots, and ignored.
    public var base64IncludesFilename = false
    public var replacements: [URLReplacement] = []
    /// Stands before source URLs that do not begin with it.
    public var baseURL = ""
    /// The beginnings of source URLs that are served. Empty: all.
    public var allowedSources: [WildcardPattern] = []
    /// Seconds since 1970.
    public var now: @Sendable () -> Int = { 0 }

    public init() {}

    /// What a URL asks for.
    public struct ParsedURL: Hashable, Sendable {
        public var options: ProcessingOptions
        /// The URL of the source.
        public var source: String
        /// The client's cookies, where the origin of the source gets them: what comes back then is this client's alone.
        public var cookies: String?

        /// A source with no options.
        public init(source: String) {
            self.init(options: ProcessingOptions(), source: source)
        }

        init(options: ProcessingOptions, source: String) {
            self.options = options
            self.source = source
        }

        /// Tells apart what is got of one source for clients who send it other cookies.
        public var sourceName: String { cookies.map { "\(source)\ncookies \($0)" } ?? source }
    }

    /// - Parameter target: of the request, as it came: `/signature/options/source`.
    public func parse(target: some StringProtocol) throws(RequestRefusal) -> ParsedURL {
        let signed = try SignedPath(target: target, prefix: pathPrefix)
        return try parse(signed)
    }

    /// Checks the signature and reads the rest, of the same bytes.
    public func parse(_ path: SignedPath) throws(RequestRefusal) -> ParsedURL {
        let rest = path.mended(separator: argumentsSeparator)
        try signatures.check(path.signature, of: "/" + rest)
        return try read(rest)
    }

    /// - Parameter path: what stands behind the signature and its slash.
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
        let (source, suffix) = try SourceText(self).read(Array(rest))
        if let suffix, !options.raw {
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

    /// Whether the source may be asked, also where a redirect led there.
    public func allows(source: String) -> Bool {
        allowedSources.isEmpty || allowedSources.contains { $0.matches(source) }
    }

    /// - Returns: the path of a URL with its signature: `/signature/options/source`.
    /// - Parameter path: options and source.
    public func signed(_ path: String) -> String {
        let path = path.hasPrefix("/") ? path : "/" + path
        let signature = signatures.keys.first?.signature(of: path, size: signatures.size) ?? "_"
        return pathPrefix + "/" + signature + path
    }
}

/// The path of a URL, cut into its signature and the rest.
public struct SignedPath: Hashable, Sendable {
    public let signature: Substring
    public let rest: Substring

    /// - Parameters:
    ///   - target: of the request, with its query.
    ///   - prefix: is taken away. Without it at the beginning there is no such path.
    public init(target: some StringProtocol, prefix: String = "") throws(RequestRefusal) {
        var path = Substring(target).prefix { $0 != "?" }
        if !prefix.isEmpty {
            guard path.hasPrefix(prefix) else { throw .invalidURL("the path does not begin with \(prefix)") }
            path = path.dropFirst(prefix.count)
        }
        if path.hasPrefix("/") { path = path.dropFirst() }
        guard let slash = path.firstIndex(of: "/") else {
            throw .invalidURL("the path has no part behind the signature")
        }
        signature = path[..<slash]
        // A second slash is none of the path, and was not signed.
        path = path[path.index(after: slash)...]
        rest = path.hasPrefix("/") ? path.dropFirst() : path
        guard !signature.isEmpty, !rest.isEmpty else {
            throw .invalidURL("the path has no signature, or nothing behind it")
        }
    }

    /// The rest with what proxies break mended: an encoded colon in the options, and a slash that was taken from the source.
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

    /// Where a text first begins.
    fileprivate func firstRange(of text: String) -> Index? {
        let wanted = Array(text.utf8)
        var index = utf8.startIndex
        while index < utf8.endIndex {
            if utf8[index...].starts(with: wanted) { return index }
            utf8.formIndex(after: &index)
        }
        return nil
    }

    /// The parts between separators, empty ones too.
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
    /// What is signed of a path, without its first slash.
    public func signedText(_ path: SignedPath) -> String { path.mended(separator: argumentsSeparator) }

    /// - Throws: 403 for a signature that is not that of the path.
    public func check(_ path: SignedPath) throws(RequestRefusal) {
        try signatures.check(path.signature, of: "/" + signedText(path))
    }

    /// - Parameter path: options and source, whose signature was checked as a part of another path.
    public func parse(unsignedPath path: String) throws(RequestRefusal) -> ParsedURL { try read(path) }

    /// Checks the signature, and reads the source behind options that are not those of pictures.
    public func parseSource(
        _ path: SignedPath, _ separator: String
    ) throws(RequestRefusal) -> (source: String, options: [(name: Substring, arguments: [Substring])]) {
        try check(path)
        let segments = signedText(path).split(separator: "/", omittingEmptySubsequences: false)
        var options: [(name: Substring, arguments: [Substring])] = []
        for segment in segments {
            let parts = segment.components(of: separator)
            if parts.count == 1 { break }
            options.append((parts[0][...], parts.dropFirst().map { $0[...] }))
        }
        let (source, _) = try SourceText(self).read(Array(segments.dropFirst(options.count)))
        return (source, options)
    }

    /// What `crop` says with these arguments.
    public func crop(_ arguments: [Substring]) throws(RequestRefusal) -> ImgproxyGeometry {
        guard !arguments.isEmpty else { throw .invalidURL("crop wants a width") }
        var reader = OptionReader(self)
        try reader.apply(WrittenOption(name: "crop", arguments: arguments.map(String.init)), isPreset: true)
        return reader.options.geometry
    }

    /// The path with one more option behind those that it has.
    public func inserting(_ option: String, before path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let count = segments.prefix { $0.components(of: argumentsSeparator).count > 1 }.count
        return (segments[..<count] + [option[...]] + segments[count...]).joined(separator: "/")
    }
}
