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

/// A pseudoterminal whose leader the test holds.
final class PseudoTerminal: Sendable {
    /// The test's end.
    let leader: Int32
    /// The program's end, which is kept open so that the output of an ended program is not lost.
    let follower: Int32
    /// The path that a program opens as its terminal.
    let path: String
    private let reading = ThreadPool(name: "terminal", width: 1)

    init(columns: Int = 80, rows: Int = 24, pixels: PixelSize = PixelSize(width: 0, height: 0)) throws {
        // Does the work of posix_openpt, unlockpt and ptsname, which Swift's Glibc module lacks, by TIOCSPTLCK and
        // TIOCGPTN.
        leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number) = (Int32(0), UInt32(0))
        guard leader >= 0, ioctl(leader, 0x4004_5431, &lock) == 0, ioctl(leader, 0x8004_5430, &number) == 0 else {
            throw WebImageError(.cannotWrite, "no terminal: error \(errno)")
        }
        path = "/dev/pts/\(number)"
        follower = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: UInt16(pixels.width),
            ws_ypixel: UInt16(pixels.height))
        guard follower >= 0, ioctl(leader, UInt(TIOCSWINSZ), &size) == 0 else {
            throw WebImageError(.cannotWrite, "no terminal: error \(errno)")
        }
        // Keeps line ends as the program writes them, and turns off the echo of typed text.
        var settings = self.settings
        settings.c_oflag &= ~tcflag_t(OPOST)
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(follower, TCSANOW, &settings)
    }

    deinit {
        close(leader)
        close(follower)
    }

    var settings: termios {
        var settings = termios()
        tcgetattr(follower, &settings)
        return settings
    }

    /// The terminal's flags for input, output, control and local modes.
    var flags: [tcflag_t] { [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag] }

    /// Sends text that a user types or the terminal answers.
    func type(_ text: String) { Self.send(text, to: leader) }

    private static func send(_ text: String, to file: Int32) {
        let bytes = Array(text.utf8)
        _ = write(file, bytes, bytes.count)
    }

    /// Reads the output of programs until it ends with `end`.
    func read(until end: String) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            reading.run(.normal) { [leader] in
                var output: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 4096)
                while !output.suffix(end.utf8.count).elementsEqual(end.utf8) {
                    let count = readSome(leader, &piece, piece.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    output += piece.prefix(count)
                }
                continuation.resume(returning: output)
            }
        }
    }

    private static let mark = "(the program has ended)"

    /// Runs the command on this terminal to its end.
    func run(_ bench: CommandBench, _ arguments: [String], _ environment: [String]) async throws -> CommandRun {
        let process = try bench.start(arguments, environment: environment, terminal: path)
        async let output = read(until: Self.mark)
        let code = await bench.end(of: process)
        Self.send(Self.mark, to: follower)
        return CommandRun(code: code, output: Array(await output.dropLast(Self.mark.utf8.count)), errors: "")
    }
}

/// The system's `read`, which the method of this name hides.
private func readSome(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int { read(file, bytes, count) }
