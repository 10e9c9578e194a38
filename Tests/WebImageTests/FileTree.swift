import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Folders for tests.
enum FileTree {
    static func makeTemporaryFolder() throws -> String {
        var template = Array("/tmp/webimage-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw WebImageError(.cacheIO, "no temporary folder") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func remove(_ path: String) {
        let files = PosixFileSystem()
        for name in (try? files.names(in: path)) ?? [] {
            let child = "\(path)/\(name)"
            if (try? files.status(at: child))?.isDirectory ?? false { remove(child) } else { try? files.remove(child) }
        }
        try? files.removeDirectory(path)
    }

    static func read(_ path: String) throws -> [UInt8] {
        let files = PosixFileSystem()
        let file = try files.open(path, .read)
        defer { files.close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(try files.status(of: file).size))
        _ = try bytes.withUnsafeMutableBytes { try files.read(file, into: $0, at: 0) }
        return bytes
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let files = PosixFileSystem()
        let file = try files.open(path, .readWrite)
        defer { files.close(file) }
        try files.truncate(file, to: 0)
        try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
    }
}
