import WebImageCore
import WebImageSystem

/// Reads and writes files of tests.
enum FileTree {
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
