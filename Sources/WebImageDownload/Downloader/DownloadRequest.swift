public import HTTPTypes
package import WebImageCore

/// A URL to download (`http`, `https`, `file` or `data`), or a file by its path, with options.
///
/// Each property of ``DownloadOptions`` is also a property of the request: `request.retry` is `request.options.retry`.
@dynamicMemberLookup
public struct DownloadRequest: Sendable {
    public var url: String
    /// The method. Default `GET`.
    public var method = HTTPRequest.Method.get
    /// The body, which is sent with the request and with redirects that keep its method. Default nil.
    public var body: [UInt8]?
    /// The options of the download.
    public var options: DownloadOptions {
        _read { yield settings.value }
        _modify { yield &settings.value }
    }
    /// The storage of ``options``, which other objects may share.
    package var settings = MostlyDefault<DownloadOptions>()
    /// ``options``; nil if they are unchanged. Reading one of them retains none of the others.
    package var changedOptions: MostlyDefaultBox<DownloadOptions>? { settings.changed }
    /// The information collected before the caches were asked; nil if none is needed, or not yet.
    package var prepared: PreparedRequest?
    /// Whether the loader is the configuration's default for such URLs, which is not a part of the identity.
    package var hasUsualLoader = false

    /// Whether ``url`` is a path.
    package private(set) var isPath = false

    /// - Parameter url: a URL with its scheme.
    public init(url: String) { self.url = url }

    /// Whether a text is an `http` or `https` URL in normal form, without fragment, user and password, as nearly all are.
    package static func isPlain(_ url: String) -> Bool {
        url.utf8.withContiguousStorageIfAvailable { PlainURL($0) != nil } ?? false
    }

    /// Makes a request for a file by its path; a relative path begins at the process's working directory.
    public init(path: String) {
        url = path
        isPath = true
    }

    /// Whether a text begins with a scheme, after blanks.
    package static func hasScheme(_ text: String) -> Bool {
        URLReference(text.drop(while: \.isWhitespace)).scheme != nil
    }

    @inlinable
    public subscript<Value>(dynamicMember option: WritableKeyPath<DownloadOptions, Value>) -> Value {
        get { options[keyPath: option] }
        set { options[keyPath: option] = newValue }
    }
}
