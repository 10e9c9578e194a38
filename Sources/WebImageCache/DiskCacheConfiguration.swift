public import Logging
public import WebImageCore

/// Where a disk cache lies and how much it may hold.
public struct DiskCacheConfiguration: Sendable {
    public struct Limits: Hashable, Sendable {
        /// Allocated bytes, temporary files included. Nil (default): 1 GiB or 10 % of the free space, whichever is less.
        public var bytes: ByteCount?
        /// Time since the last use after which an entry is none any more; nil: for ever. Default: 7 days
        /// (SDWebImage's row CC-08).
        public var age: Duration?

        public init(bytes: ByteCount? = nil, age: Duration? = .seconds(7 * 86_400)) {
            self.bytes = bytes
            self.age = age
        }
    }

    /// The absolute path of the directory; made with mode 0700 when it is first written to.
    public var directory: String
    /// A folder of that directory; caches of different namespaces share nothing.
    public var namespace: String
    public var limits: Limits
    /// Whether an entry is on the disk for good before it takes its name. Default: no; a torn entry is found out anyway.
    public var synchronises = false
    /// Quiet by default.
    public var logger = Logger(label: "webimage.cache") { _ in SwiftLogNoOpLogHandler() }

    public init(directory: String, namespace: String = "default", limits: Limits = Limits()) {
        self.directory = directory
        self.namespace = namespace
        self.limits = limits
    }

    /// `$XDG_CACHE_HOME/webimage`, or `$HOME/.cache/webimage`; nil when neither variable has an absolute path.
    ///
    /// A relative path in `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification demands.
    public static var defaultDirectory: String? { defaultDirectory(environment: ThisProcess.environment) }

    package static func defaultDirectory(environment: (String) -> String?) -> String? {
        func absolute(_ name: String) -> String? {
            guard var path = environment(name), path.hasPrefix("/") else { return nil }
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            return path == "/" ? "" : path
        }
        if let cache = absolute("XDG_CACHE_HOME") { return cache + "/webimage" }
        return absolute("HOME").map { $0 + "/.cache/webimage" }
    }
}
