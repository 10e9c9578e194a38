public import NIOPosix
import ServerGrammar
public import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Loads sources of the form `local:///PATH`: files inside one folder.
///
/// Symbolic links are followed as long as they stay in the folder. The resolved path is then opened one component at a
/// time without following links, so that a concurrent change to the folder cannot lead outside it.
public struct LocalFiles: ImageLoader {
    private static let scheme = "local://"
    private static let pieceSize = 256 << 10

    private let root: String
    private let threads: NIOThreadPool

    /// - Parameters:
    ///   - root: an absolute path.
    ///   - threads: the threads that read the files.
    public init(root: String, threads: NIOThreadPool = .singleton) {
        self.root = root
        self.threads = threads
    }

    /// Whether a source is a `local:` URL.
    public static func has(_ source: String) -> Bool { source.utf8.starts(with: scheme.utf8) }

    /// Allows `local:` URLs only, and no network address.
    public static var policy: AddressPolicy {
        var policy = AddressPolicy()
        policy.schemes = ["local"]
        return policy
    }

    public var name: String { "local files" }

    public func canLoad(_ url: String) -> Bool { Self.has(url) }

    public func load(_ url: String, to receiver: ImageReceiver) async throws {
        let file = try await run { try OpenedFile(Substring(url.utf8.dropFirst(Self.scheme.utf8.count)), in: root) }
        receiver.answer(
            [.eTag: file.eTag, .lastModified: HTTPDateText.text(file.modified)], length: ByteCount(file.size))
        var offset = 0
        while true {
            try Task.checkCancellation()
            let bytes = try await run { [offset] in try file.read(at: offset, count: Self.pieceSize) }
            if bytes.isEmpty { return }
            offset += bytes.count
            try await receiver.receive(bytes)
        }
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}

/// An open regular file inside a folder.
private final class OpenedFile: Sendable {
    let size: Int
    /// Seconds since 1970.
    let modified: Int
    /// Changes whenever the file changes.
    let eTag: String
    private let descriptor: Int32

    /// - Parameter path: the URL without its scheme: the path below `root`, which is not percent-decoded. A query is
    ///   ignored.
    init(_ path: Substring, in root: String) throws(WebImageError) {
        let location = "local://\(path.prefix(255))"
        func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
            WebImageError(code, message, location: location)
        }
        func refusal(_ number: Int32, _ missing: String) -> WebImageError {
            switch number {
            // `ELOOP`: a link that appeared after the path was resolved. It is not followed; the file counts as
            // missing.
            case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: error(.fileNotFound, missing)
            case EACCES, EPERM: error(.permissionDenied, "the file may not be read")
            case ENXIO: error(.notAFile, "this is not a readable file")
            // After any other error the file may still exist, so it does not count as missing.
            default: error(.cannotRead, "the system could not open the file: error \(number)")
            }
        }
        // Text before the first slash would be a host, which local files do not have.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw error(.invalidURL, "a local source is local:///PATH")
        }
        let name = Self.withoutDots(path.utf8.prefix { $0 != UInt8(ascii: "?") })
        guard let folder = Self.resolved(root) else { throw refusal(errno, "the folder of local files is gone") }
        guard let place = Self.resolved(folder + name) else { throw refusal(errno, "there is no such file") }
        let prefix = folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
        // Compares bytes, as the system does: Swift considers some strings equal that name different files.
        guard place.utf8.starts(with: prefix.utf8) else {
            throw error(.permissionDenied, "the path leads out of the folder")
        }
        descriptor = Self.open(place.utf8.dropFirst(prefix.utf8.count), from: folder)
        guard descriptor >= 0 else { throw refusal(errno, "there is no such file") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw error(.notAFile, "this is not a readable file")
        }
        size = Int(status.st_size)
        #if os(Linux)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        modified = Int(time.tv_sec)
        let parts = [
            UInt64(status.st_ino), UInt64(status.st_size), UInt64(bitPattern: Int64(time.tv_sec)), UInt64(time.tv_nsec),
        ]
        eTag = "\"\(parts.map { String($0, radix: 36) }.joined(separator: "-"))\""
    }

    deinit { close(descriptor) }

    /// - Returns: an empty array at the end of the file.
    func read(at offset: Int, count: Int) throws(WebImageError) -> [UInt8] {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            number = result < 0 ? errno : 0
            filled = max(result, 0)
        }
        guard number == 0 else {
            throw WebImageError(.cannotRead, "the system could not read the file: error \(number)")
        }
        return bytes
    }

    /// Resolves `.` and `..` in the text of the path, so that nothing above the folder is ever accessed.
    private static func withoutDots(_ path: Substring.UTF8View) -> String {
        var names: [Substring] = []
        for name in path.split(separator: UInt8(ascii: "/")) where !name.elementsEqual(".".utf8) {
            if name.elementsEqual("..".utf8) { _ = names.popLast() } else { names.append(Substring(name)) }
        }
        // A trailing slash is kept, so that the path of a file with a slash after it finds nothing.
        let end = path.last == UInt8(ascii: "/") && !names.isEmpty ? "/" : ""
        return "/" + names.joined(separator: "/") + end
    }

    /// - Returns: the absolute path without symbolic links; nil, with `errno` set, if nothing exists there.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// - Returns: the file's descriptor; negative, with `errno` set, if the file cannot be opened or a component is a
    ///   link.
    private static func open(_ path: Substring.UTF8View, from folder: String) -> Int32 {
        var directory = openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let names = path.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        for (index, name) in names.enumerated() where directory >= 0 {
            let isLast = index == names.count - 1
            // `O_NONBLOCK`: opening a pipe must not wait for a writer.
            let flags = isLast ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_RDONLY | O_DIRECTORY
            let next = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC)
            let number = errno
            close(directory)
            errno = number
            directory = next
        }
        return directory
    }
}
