import WebImageCore

/// A regular file that is open for reading only.
package struct HeldFile: Sendable {
    package let descriptor: Int32
    package let byteCount: Int
    /// The object that keeps the file open.
    package let holder: any Sendable & AnyObject

    package init(descriptor: Int32, byteCount: Int, holder: any Sendable & AnyObject) {
        self.descriptor = descriptor
        self.byteCount = byteCount
        self.holder = holder
    }

    /// Whether the file has been shortened since it was opened.
    package var becameShorter: Bool {
        guard let status = try? PosixFileSystem().status(of: descriptor) else { return true }
        return status.size < byteCount
    }
}
