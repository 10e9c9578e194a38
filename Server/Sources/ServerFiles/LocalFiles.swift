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

/// Sources of the form `local:///PATH`: files of one folder, and of none beside it.
///
/// Symbolic links are followed as long as they stay in the folder. The file is then opened from the folder on, name by name and
/// without following any link, so that nobody who changes the folder meanwhile leads out of it.
public struct LocalFiles: ImageLoader {
    private static let scheme = "local://"
    private static let pieceSize = 256 << 10

    private let root: String
    private let threads: NIOThreadPool

    /// - Parameters:
    ///   - root: an absolute path.
    ///   - threads: where files are read.
    public init(root: String, threads: NIOThreadPool = .singleton) {
        self.root = root
        self.threads = threads
    }

    /// Whether a source is a file of this machine.
    public static func has(_ source: String) -> Bool { source.utf8.starts(with: scheme.utf8) }

    /// Allows files, and no address.
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

/// A regular file beneath a folder.
private final class OpenedFile: Sendable {
    let size: Int
    /// Seconds since 1970.
    let modified: Int
    /// Changes when the file does.
    let eTag: String
    private let descriptor: Int32

    /// - Parameter path: of a URL, from the folder on, as it is, with a query that says nothing.
    init(_ path: Substring, in root: String) throws(WebImageError) {
        let location = "local://\(path.prefix(255))"
        func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
            WebImageError(code, message, location: location)
        }
        func refusal(_ number: Int32, _ missing: String) -> WebImageError {
            switch number {
            // A link that came after the path was resolved is not followed, and counts as nothing.
            case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: error(.fileNotFound, missing)
            case EACCES, EPERM: error(.permissionDenied, "the file may not be read")
            case ENXIO: error(.notAFile, "this is not a readable file")
            // A file that cannot be read now is not gone.
            default: error(.cannotRead, "the system could not open the file: error \(number)")
            }
        }
        // What stands before the path is a host, and no file has one.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw error(.invalidURL, "a local source is local:///PATH")
        }
        let name = Self.withoutDots(path.utf8.prefix { $0 != UInt8(ascii: "?") })
        guard let folder = Self.resolved(root) else { throw refusal(errno, "the folder of local files is gone") }
        guard let place = Self.resolved(folder + name) else { throw refusal(errno, "there is no such file") }
        let prefix = folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
        // In bytes, as the system compares names: texts are equal in Swift that are different files.
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

    /// - Returns: nothing at the end.
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

    /// The path with segments of dots worked out in the text, so that what lies above the folder is never looked at.
    private static func withoutDots(_ path: Substring.UTF8View) -> String {
        var names: [Substring] = []
        for name in path.split(separator: UInt8(ascii: "/")) where !name.elementsEqual(".".utf8) {
            if name.elementsEqual("..".utf8) { _ = names.popLast() } else { names.append(Substring(name)) }
        }
        // Of a folder, which is no file.
        let end = path.last == UInt8(ascii: "/") && !names.isEmpty ? "/" : ""
        return "/" + names.joined(separator: "/") + end
    }

    /// - Returns: the path without links; nil where nothing is there.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// - Returns: below 0, with `errno`, where it cannot be opened, or is a link.
    private static func open(_ path: Substring.UTF8View, from folder: String) -> Int32 {
        var directory = openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let names = path.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        for (index, name) in names.enumerated() where directory >= 0 {
            let isLast = index == names.count - 1
            // A pipe without a writer must not wait for one.
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
