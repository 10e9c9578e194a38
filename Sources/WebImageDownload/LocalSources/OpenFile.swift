import WebImageCore
import WebImageSystem

/// A regular file that is read from front to back by one thread at a time.
final class OpenFile: @unchecked Sendable {
    // Sendable: `position` belongs to the one reader.
    let size: Int
    private(set) var position = 0
    /// The open file, to read it again. It is closed with its last user.
    let file: LogFile

    /// - Throws: `fileNotFound`, `permissionDenied`, `notAFile` for directories, pipes, sockets and devices,
    ///   `bodyTooLarge`; `cannotRead` for all other errors.
    init(_ path: String, files: any FileSystem, limit: Int) throws(WebImageError) {
        let status: FileStatus
        do throws(FileFault) {
            file = LogFile(descriptor: try files.open(path, .read), files: files, path: path)
            status = try files.status(of: file.descriptor)
        } catch {
            throw Self.error(for: error, path)
        }
        size = Int(clamping: status.size)
        guard status.isRegularFile else {
            let what = status.isDirectory ? "this is a folder, not a file" : "this is not a readable file"
            throw WebImageError(.notAFile, what, location: path)
        }
        guard size <= limit else { throw Self.tooLarge(limit, path) }
    }

    /// Reads the next bytes; returns 0 at the end.
    ///
    /// - Throws: `truncatedBody` if the file has been shortened, `bodyTooLarge` if it has become too long,
    ///   `cannotRead`.
    func read(into buffer: UnsafeMutableRawBufferPointer, limit: Int) throws(WebImageError) -> Int {
        let count: Int
        do throws(FileFault) {
            count = try file.files.read(file.descriptor, into: buffer, at: Int64(position))
        } catch {
            throw Self.error(for: error, path)
        }
        if count == 0, position < size { throw LogFile.becameShorter(path) }
        position += count
        guard position <= limit else { throw Self.tooLarge(limit, path) }
        return count
    }

    private var path: String { file.path ?? "" }

    private static func tooLarge(_ limit: Int, _ path: String) -> WebImageError {
        WebImageError.bodyTooLarge(limit: limit).at(path)
    }

    private static func missing(_ path: String) -> String {
        "there is no such file" + (MissingScheme.hint(for: path).map { "; \($0)" } ?? "")
    }

    private static func error(for fault: FileFault, _ path: String) -> WebImageError {
        switch fault.errorNumber {
        case 1, 13:  // EPERM, EACCES
            WebImageError(.permissionDenied, "the file may not be read", cause: fault, location: path)
        case 6, 21:  // ENXIO (a socket), EISDIR
            WebImageError(.notAFile, "this is not a readable file", cause: fault, location: path)
        case 2, 20, 36, 40:  // ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP
            WebImageError(.fileNotFound, missing(path), cause: fault, location: path)
        default:
            WebImageError(
                .cannotRead, "the system could not open or read the file: \(SystemErrorText.of(fault.errorNumber))",
                cause: fault, location: path)
        }
    }
}
