import WebImage
import WebImageSystem

/// Reads small files, off the main thread.
enum FileText {
    private static let limit = 16 << 20

    /// The text of a file; nil when it cannot be read or is larger than 16 MiB.
    static func read(_ path: String) async -> String? {
        await withCheckedContinuation { continuation in
            let hasBegun = startThread(named: "wi-list") { continuation.resume(returning: readNow(path)) }
            if !hasBegun { continuation.resume(returning: nil) }
        }
    }

    private static func readNow(_ path: String) -> String? {
        let files = PosixFileSystem()
        guard let file = try? files.open(path, .read) else { return nil }
        defer { files.close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            guard
                let count = try? buffer.withUnsafeMutableBytes({
                    try files.read(file, into: $0, at: Int64(bytes.count))
                })
            else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
        return nil
    }
}
