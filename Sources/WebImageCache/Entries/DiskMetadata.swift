public import WebImageCore

/// The metadata that is stored on disk with an entry. Everything is optional.
public struct DiskMetadata: Hashable, Sendable {
    /// A header field.
    public struct Field: Hashable, Sendable {
        /// The field for the answering URL, which entries with hashed keys do not store.
        package static let place = ":place"
        /// The beginning of the name of a field for the cookies that were sent to a URL; the URL follows, unless it is the
        /// requested one.
        package static let cookies = ":cookies "

        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// The field as entries with hashed keys store it; nil: not at all.
        ///
        /// Without the URL it cannot be determined which cookies would be sent there now. The field then names a host
        /// that does not exist and a value that no cookies have, so that no request matches it.
        var withoutURL: Field? {
            if name == Self.place { return nil }
            guard name.hasPrefix(Self.cookies), name != Self.cookies else { return self }
            return Field(name: Self.cookies + "https://no.invalid/", value: "?")
        }
    }

    /// A field of a later version, which is kept unchanged when the metadata is rewritten.
    package struct UnknownField: Hashable, Sendable {
        package var tag: UInt16
        package var bytes: [UInt8]
    }

    /// What a finished picture was made from.
    package struct Original: Hashable, Sendable {
        /// Its size as it is shown.
        package var size: PixelSize
        package var isVector: Bool

        package init(size: PixelSize, isVector: Bool) { (self.size, self.isVector) = (size, isVector) }
    }

    /// A value of a user's type, with the name and the version of its encoding.
    struct TypedData: Hashable, Sendable {
        var name: String
        var version: UInt32
        var bytes: [UInt8]
    }

    /// When the entry was stored, in seconds since 1970; the cache fills it in when it is nil.
    public var storedAt: Int64?
    /// When the entry stops being served, in seconds since 1970. This is the cache's own lifetime, not HTTP's
    /// freshness.
    public var expiresAt: Int64?
    /// The URL that the bytes came from, without credentials.
    public var url: String?
    /// The picture format, if it is known.
    public var format: ImageFormat?
    /// The HTTP status of the response.
    public var status: Int?
    /// The response's headers that decide about freshness and conditional requests (RFC 9111, section 3).
    public var headers: [Field] = []
    /// The request's headers that the response's `Vary` names.
    public var varyRequestHeaders: [Field] = []
    /// When the request was sent and when the response came, in seconds since 1970 (RFC 9111, section 4.2.3).
    public var requestTime: Int64?
    public var responseTime: Int64?
    /// Bytes for the program's own use. For values of your own types, with versions, see ``DiskExtendedData``.
    public var extendedData: [UInt8]?
    var typedData: [TypedData] = []
    /// Of a finished picture: its original. Nil for originals, and for entries of earlier versions.
    package var original: Original?
    package var unknownFields: [UnknownField] = []

    public init() {}

    /// Whether the entry's own lifetime has not ended.
    func isAlive(at now: Int64) -> Bool { expiresAt.map { now < $0 } ?? true }

    /// The response's header with that name, ignoring case; the first one if there are several.
    public func value(of name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
