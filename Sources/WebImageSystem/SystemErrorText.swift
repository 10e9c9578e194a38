package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system's error numbers in words.
package enum SystemErrorText {
    /// `"No space left on device"` for `ENOSPC`.
    package static func of(_ number: Int32) -> String {
        // Since 2.32 glibc keeps the text by thread, and before only that of numbers that it does not know is shared.
        guard let text = strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }
}

// Here, because Core knows no system.
extension FileFault: CustomStringConvertible {
    package var description: String { "\(call) \(path): \(SystemErrorText.of(errorNumber))" }
}
