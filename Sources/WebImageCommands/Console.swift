import Foundation
import Synchronization
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Standard output and standard error, which get whole lines at a time.
enum Console {
    /// Whether standard error is a terminal on which lines can be erased.
    static let isErrorTerminal = isatty(2) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// The system's error number of the last failed write to standard output; 0 if all writes succeeded.
    private static let failure = Atomic<Int32>(0)

    /// Held for a whole write: a pipe takes long lines in pieces, between which those of other threads could come.
    private static let outTurn = Mutex(())
    private static let errTurn = Mutex(())

    static func out(_ line: String) { out(bytes: Array((line + "\n").utf8)) }

    static func out(bytes: [UInt8]) {
        outTurn.withLock { _ in
            do throws(FileFault) {
                try AtomicFile.send(bytes, to: 1)
            } catch {
                failure.store(error.errorNumber, ordering: .relaxed)
            }
        }
    }

    static func err(_ line: String) { write(line + "\n", to: .standardError) }

    /// Writes text that is not a whole line, such as bars.
    static func write(_ text: String, to file: FileHandle) {
        errTurn.withLock { _ in try? AtomicFile.send(Array(text.utf8), to: file.fileDescriptor) }
    }

    /// Whether the reader of standard output has closed it, so that further output is pointless.
    static var isReaderGone: Bool { failure.load(ordering: .relaxed) == EPIPE }

    /// Why output was lost; nil if none was, or the reader closed standard output.
    static var outputFault: String? {
        let number = failure.load(ordering: .relaxed)
        return number == 0 || number == EPIPE ? nil : "standard output cannot be written: \(SystemErrorText.of(number))"
    }

    /// Makes the three standard descriptors safe to use. A descriptor that the caller closed would become the next file
    /// that is opened, and get the lines that are meant for people. And if the reader of standard output has closed it,
    /// a signal would end the process before the other files are written.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free number, which is this one. The file is opened with the wrong access, so
            // that reading or writing fails as it would without the descriptor.
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// The columns and rows of the terminal on standard error; 80 and 24 if it is not a terminal.
    static var terminalSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The columns of a terminal that a character takes: two for East Asian characters and emoji, by an approximation
    /// of the ranges of Unicode's annex 11.
    static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first?.value, scalar >= 0x1100 else { return 1 }
        let isWide =
            switch scalar {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
                true
            default: false
            }
        return isWide ? 2 : 1
    }

    /// Makes a text from outside safe to show: removes control characters, which could control the terminal, and
    /// shortens the text.
    static func shown(_ text: String, most: Int = 300) -> String {
        let head = text.unicodeScalars.prefix(most + 1)
        var shown = String.UnicodeScalarView()
        for scalar in head.prefix(most) {
            let isControl = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            shown.append(isControl ? "?" : scalar)
        }
        return String(shown) + (head.count > most ? "…" : "")
    }
}
