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

/// A terminal whose other end the test holds.
final class PseudoTerminal: Sendable {
    /// The test's end.
    let leader: Int32
    /// The program's end, kept open so that what a program wrote stays when it has ended.
    let follower: Int32
    /// For a program to open as its terminal.
    let path: String
    private let reading = ThreadPool(name: "terminal", width: 1)

    init(columns: Int = 80, rows: Int = 24, pixels: PixelSize = PixelSize(width: 0, height: 0)) throws {
        // What posix_openpt, unlockpt and ptsname do, which Swift's Glibc leaves out: TIOCSPTLCK and TIOCGPTN.
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
        // Line ends as the program writes them, and no echo of what is typed.
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

    /// The flags that tell how the terminal treats input and output.
    var flags: [tcflag_t] { [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag] }

    /// What a person types, or the terminal answers.
    func type(_ text: String) { Self.send(text, to: leader) }

    private static func send(_ text: String, to file: Int32) {
        let bytes = Array(text.utf8)
        _ = write(file, bytes, bytes.count)
    }

    /// Reads what programs write, until it ends with `end`.
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

/// The system's call, which the method of that name hides.
private func readSome(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int { read(file, bytes, count) }
