import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A regular file, whichever path leads to it. A device or a pipe has no identity, since no output replaces it.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: nil if there is no regular file at the path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}

/// The place of a file that is written: a folder and a name in it, whichever path leads there. The file need not exist.
struct FilePlace: Hashable {
    private let device: UInt64
    private let folder: UInt64
    /// As bytes, because a text equals others that are normalised differently.
    private let name: [UInt8]

    /// - Returns: nil if the folder does not exist, or if the path is a stream, which no file replaces.
    init?(_ path: String) {
        if OutputFiles.isStream(path) { return nil }
        let target = AtomicFile.target(of: path)
        let start = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) }
        let parent = start.map { String(Substring(target.utf8[..<$0])) } ?? "."
        var status = stat()
        guard stat(parent, &status) == 0 else { return nil }
        (device, folder) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
        name = Array(target.utf8[(start ?? target.startIndex)...])
    }
}
