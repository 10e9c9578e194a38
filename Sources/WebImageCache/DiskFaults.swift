import Glibc
import WebImageCore

extension FileFault {
    /// There is no such file or directory.
    var isMissing: Bool { errorNumber == ENOENT }
    var isExisting: Bool { errorNumber == EEXIST }

    /// The cache's error for a write that failed so.
    func writeError(_ action: String, at path: String) -> WebImageError {
        switch errorNumber {
        case ENOSPC, EDQUOT:
            WebImageError(.noSpace, "\(action): the disk is full", cause: self, location: path)
        case EROFS, EACCES, EPERM:
            WebImageError(.readOnly, "\(action): the cache's directory cannot be written", cause: self, location: path)
        default:
            WebImageError(.cacheIO, "\(action): the file system refused", cause: self, location: path)
        }
    }

    func readError(_ action: String, at path: String) -> WebImageError {
        WebImageError(.cacheIO, "\(action): the file system refused", cause: self, location: path)
    }
}

enum ThisProcess {
    static var number: Int32 { getpid() }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
