package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The texts of the system's error numbers.
package enum SystemErrorText {
    /// The text of an error number: `"No space left on device"` for `ENOSPC`.
    package static func of(_ number: Int32) -> String {
        // Since version 2.32, glibc's text is per thread; before, only that of unknown numbers is shared.
        guard let text = strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }
}

// Declared here, because Core does not use the system.
extension FileFault: CustomStringConvertible {
    package var description: String { "\(call) \(path): \(SystemErrorText.of(errorNumber))" }
}
