import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A folder of plain files that goes with the value.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        path = "/tmp/webimage-download-\(UInt64.random(in: 0...UInt64.max))"
        try PosixFileSystem().makeDirectory(path)
    }

    deinit {
        let files = PosixFileSystem()
        for name in (try? files.names(in: path)) ?? [] {
            try? files.remove("\(path)/\(name)")
            // A program that ran here may have left an empty folder.
            try? files.removeDirectory("\(path)/\(name)")
        }
        try? files.removeDirectory(path)
    }

    package func write(_ name: String, _ text: String) {
        guard let file = fopen("\(path)/\(name)", "w") else { return }
        fputs(text, file)
        fclose(file)
    }

    /// The first 64 KiB of a file; nothing of one that is not there.
    package func contents(_ name: String) -> [UInt8] {
        guard let file = fopen("\(path)/\(name)", "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
