public import Logging
public import WebImageCore

/// The directory of a disk cache, and its limits.
public struct DiskCacheConfiguration: Sendable {
    /// The date from which the age of an entry counts. It is used for the limit of age, and for the order of eviction.
    public enum AgeBasis: Hashable, Sendable {
        /// When it was last read or written. The default.
        case lastUse
        /// When its body or metadata were last written.
        case lastChange
        /// When its body was written.
        case creation
    }

    /// How much a cache may hold, and for how long.
    public struct Limits: Hashable, Sendable {
        /// The most space that the directory may take, in allocated bytes, for all processes that use it together.
        /// Temporary files and the cache's own index count. A sixteenth of it, at most 64 MiB, is reserved for the
        /// beginnings of interrupted downloads. Default nil: 1 GiB or 10 % of the free space, whichever is less.
        public var bytes: ByteCount?
        /// The most entries; nil (default): as many as the bytes allow.
        public var count: Int?
        /// The age from which an entry counts as absent, in whole seconds, rounded up. Zero: at once; nil: never.
        /// Default 7 days.
        public var age: Duration?
        /// The date from which the age counts, and the order of eviction. Default: the last use.
        public var ageBasis = AgeBasis.lastUse
        /// How many bytes of the disk the cache leaves free, even if it has to evict its own entries. It checks this
        /// after every 8 MiB that it writes. Default nil: none.
        public var freeSpace: ByteCount?

        public init(bytes: ByteCount? = nil, age: Duration? = .seconds(7 * 86_400)) {
            self.bytes = bytes
            self.age = age
        }
    }

    /// The absolute path of the directory, which is created with mode 0700 at the first write.
    ///
    /// An existing directory must belong to the user as whom the process runs, or to the administrator, and nobody else
    /// may write to it, unless it is sticky like `/tmp`. The folders inside it must belong to this user. Any other
    /// directory is not used: stores throw `readOnly`, reads `cacheIO`. If a directory is shared, such as the volume of
    /// a container, name a folder inside it that does not exist yet.
    public var directory: String
    /// The name of a folder in that directory. Caches with different namespaces share nothing. A string that cannot be
    /// the name of a folder, because it is empty, consists of dots or contains a slash, is replaced by another name.
    public var namespace: String
    /// How much the cache may hold, and for how long.
    public var limits: Limits
    /// Whether an entry is synchronised to the disk before it is renamed. Default false: an entry that a power failure
    /// has damaged is found by its checks in any case.
    public var synchronises = false
    /// Whether entries and index contain their keys as text. If false, an entry has only the SHA-256 of its key and no
    /// URL: somebody who can read the disk does not learn what was loaded, and a listing has no keys. An answer to a request
    /// with cookies that came by a redirect is then found again only if it is `public`. Default true.
    public var keepsKeys = true
    /// Further places to look for entries that are not in the cache itself, in this order. Nothing is ever written
    /// there. Default none.
    public var readOnlySources: [DiskSource] = []
    /// How many bytes of bodies may wait in memory to be written; see ``DiskCache/stage(_:_:_:priority:completion:)``.
    /// One body may always wait. Default: 64 MiB.
    public var maxStaged = ByteCount.mebibytes(64)
    /// How often expired entries are removed, on the file executor, even while the cache is not used; at least one
    /// second. Expired entries are never served, whether they are removed or not. Nil: they are removed only when the
    /// cache is opened and used. Default one hour.
    public var maintenanceInterval: Duration? = .seconds(3600)
    /// Whether expired entries are removed when the manager that uses the cache is drained, if there is time left.
    /// Default true.
    public var removesExpiredWhenDrained = true
    /// The logger. The default one logs nothing.
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
