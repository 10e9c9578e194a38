import Foundation
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The properties of the terminal on which pictures are drawn. It is a value, so that every kind of terminal can be
/// tested.
struct Terminal: Sendable {
    /// The assumed size of a letter if the terminal does not tell it. Nearly all letters have the shape 1 to 2.
    static let usualCell = PixelSize(width: 10, height: 20)
    /// The width in letters if the output is not a terminal.
    static let pipeColumns = 80

    var isTerminal: Bool
    var columns: Int
    /// The number of rows; nil if there is no limit, as in a pipe.
    var rows: Int?
    /// The size of one letter in pixels; nil if the terminal does not tell it.
    var cell: PixelSize?
    var environment: [String: String]

    /// The form in which a drawing is sent.
    enum Language: String, CaseIterable, Sendable {
        case kitty
        case sixel
        case blocks
    }

    /// Standard output.
    static func standardOutput() -> Terminal {
        let environment = ProcessInfo.processInfo.environment
        var size = winsize()
        guard isatty(1) == 1 else {
            return Terminal(isTerminal: false, columns: pipeColumns, rows: nil, cell: nil, environment: environment)
        }
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Terminal(isTerminal: true, columns: 80, rows: 24, cell: nil, environment: environment)
        }
        let cell = PixelSize(
            width: Int(size.ws_xpixel) / Int(size.ws_col), height: Int(size.ws_ypixel) / Int(size.ws_row))
        return Terminal(
            isTerminal: true, columns: Int(size.ws_col), rows: Int(size.ws_row), cell: cell.isEmpty ? nil : cell,
            environment: environment)
    }

    private func variable(_ name: String) -> String { environment[name] ?? "" }

    /// Whether a terminal multiplexer draws the screen, which does not pass on pictures.
    var isMultiplexed: Bool {
        !variable("TMUX").isEmpty || ["tmux", "screen"].contains { variable("TERM").hasPrefix($0) }
    }

    /// The best language that the terminal understands.
    ///
    /// - Parameter attributes: asks the terminal for its attributes (DA1); called only if the environment does not
    ///   tell.
    func language(attributes: () -> [Int]?) -> Language {
        guard isTerminal, !isMultiplexed else { return .blocks }
        let (term, program) = (variable("TERM"), variable("TERM_PROGRAM").lowercased())
        let speaksKitty =
            term.contains("kitty") || term.contains("ghostty") || !variable("KITTY_WINDOW_ID").isEmpty
            || ["wezterm", "ghostty"].contains(program)
        if speaksKitty { return .kitty }
        if ["sixel", "mlterm", "foot"].contains(where: { term.contains($0) }) { return .sixel }
        if term == "dumb" || term == "linux" { return .blocks }
        // The first number is the kind of terminal. A 4 among the others means sixel graphics.
        return attributes()?.dropFirst().contains(4) ?? false ? .sixel : .blocks
    }

    /// Whether colours have 24 bits; otherwise xterm's 256 colours are used.
    var hasTrueColor: Bool { ["truecolor", "24bit"].contains(variable("COLORTERM").lowercased()) }

    /// The background with which half-transparent pixels are mixed, as far as the environment tells it (rxvt's
    /// convention, `COLORFGBG`). Default black.
    var background: RGBColor {
        let last = variable("COLORFGBG").split(separator: ";").last.flatMap { Int($0) }
        return last == 7 || last == 15 ? .white : .black
    }

    /// Asks the terminal for its attributes, if standard input and output are terminals. Waits up to a second.
    static func askAttributes() -> [Int]? {
        guard isatty(0) == 1, isatty(1) == 1 else { return nil }
        return TerminalQuestion.deviceAttributes(input: 0, output: 1, milliseconds: 1000)
    }
}
