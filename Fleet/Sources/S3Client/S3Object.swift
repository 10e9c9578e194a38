import NIOHTTP1
public import NIOCore

/// An object, or its beginning.
public struct S3Object: Hashable, Sendable {
    /// The body, or just its beginning if only that was requested.
    public var body: ByteBuffer
    /// The length of the object in bytes; nil if the server does not state it.
    public var length: Int?
    /// The metadata that was given when the object was written. The names are in lower case.
    public var metadata: [String: String]
    /// The entity tag as the server writes it, with its quotation marks.
    public var etag: String?
    public var contentType: String?
    /// The date as the server writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var lastModified: String?

    public init(body: ByteBuffer, metadata: [String: String] = [:]) {
        self.body = body
        self.metadata = metadata
        length = body.readableBytes
    }
}

extension S3Object {
    static let metadataPrefix = "x-amz-meta-"

    init(_ answer: Answer) {
        body = answer.body
        length = Self.length(answer)
        etag = answer.headers.first(name: "etag")
        contentType = answer.headers.first(name: "content-type")
        lastModified = answer.headers.first(name: "last-modified")
        metadata = [:]
        for (name, value) in answer.headers where name.lowercased().hasPrefix(Self.metadataPrefix) {
            metadata[String(name.lowercased().dropFirst(Self.metadataPrefix.count))] = value
        }
    }

    private static func length(_ answer: Answer) -> Int? {
        guard answer.status == 206 else { return answer.body.readableBytes }
        // The field's form is `bytes 0-9/1234`.
        return answer.headers.first(name: "content-range")?.split(separator: "/").last.flatMap { Int($0) }
    }
}
