package import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A temporary folder that is removed when the object is released.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws { path = try Self.make() }

    deinit { Self.remove(path) }

    /// The folder with the temporary folders of this process. It is removed when the process ends, together with files
    /// that threads wrote after the end of their test.
    private static let parent: String? = {
        var template = Array("/tmp/webimage-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        atexit { ScratchFolder.parent.map { ScratchFolder.remove($0) } }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// Makes an empty folder for one test.
    package static func make() throws(WebImageError) -> String {
        guard let parent else { throw WebImageError(.cannotWrite, "no temporary folder", location: "/tmp") }
        let path = "\(parent)/\(UInt32.random(in: .min ... .max))"
        guard mkdir(path, 0o700) == 0 else {
            throw WebImageError(.cannotWrite, "no temporary folder: error \(errno)", location: path)
        }
        return path
    }

    /// Removes a folder and everything in it. Links are not followed.
    package static func remove(_ path: String) {
        let files = PosixFileSystem()
        chmod(path, 0o700)
        for name in (try? files.names(in: path)) ?? [] {
            let inner = "\(path)/\(name)"
            if (try? files.remove(inner)) == nil { remove(inner) }
        }
        try? files.removeDirectory(path)
    }

    package func write(_ name: String, _ text: String) {
        guard let file = fopen("\(path)/\(name)", "we") else { return }
        fputs(text, file)
        fclose(file)
    }

    /// The first 64 KiB of a file; nothing if the file does not exist.
    package func contents(_ name: String) -> [UInt8] {
        guard let file = fopen("\(path)/\(name)", "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
