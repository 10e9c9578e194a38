#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tells one state of a `.netrc` from the next. It is read anew each time: such files are short, and what they were changed to a
/// moment ago counts.
enum NetrcMark {
    private static let longest = 256 << 10

    /// A digest of what is in the file; empty for one that cannot be read.
    static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            while count < longest {
                let done = read(file, buffer.baseAddress.map { $0 + count }, longest - count)
                guard done > 0 else { break }
                count += done
            }
        }
        return CredentialScope.digest(bytes)
    }
}
