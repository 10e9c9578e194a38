import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension FileFault {
    /// The file or directory does not exist.
    var isMissing: Bool { errorNumber == ENOENT }
    /// A symbolic link was found where links are not followed.
    var isLink: Bool { errorNumber == ELOOP }

    /// A directory that another user made or can change.
    static func untrusted(_ path: String) -> FileFault { FileFault(trust, path, EPERM) }
    var isUntrusted: Bool { call == Self.trust }
    private static let trust = "trust"

    /// The system's text for the error number.
    private var reason: String { SystemErrorText.of(errorNumber) }

    private var advice: String {
        "\(path) belongs to somebody else, or others may change it, or it is a link; use a directory, "
            + "or one inside it that the cache makes itself, with mode 0700"
    }

    /// The cache's error for a failed write.
    func writeError(_ action: String, at path: String) -> WebImageError {
        if isUntrusted { return WebImageError(.readOnly, "\(action): \(advice)", cause: self, location: path) }
        return switch errorNumber {
        case ENOSPC, EDQUOT:
            WebImageError(.noSpace, "\(action): the disk is full", cause: self, location: path)
        case EROFS, EACCES, EPERM:
            WebImageError(
                .readOnly, "\(action): the cache's directory cannot be written (\(reason))", cause: self, location: path
            )
        default:
            WebImageError(.cacheIO, "\(action): \(reason)", cause: self, location: path)
        }
    }

    func readError(_ action: String, at path: String) -> WebImageError {
        WebImageError(.cacheIO, "\(action): \(isUntrusted ? advice : reason)", cause: self, location: path)
    }
}

enum ThisProcess {
    static var number: Int32 { getpid() }
    /// The effective user of this process.
    static var user: UInt32 { geteuid() }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
