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

/// What is known of the place that pictures are drawn to. A value, so that every kind of terminal can be tested.
struct Terminal: Sendable {
    /// Terminals that do not tell: the shape of nearly all their letters is 1 to 2.
    static let usualCell = PixelSize(width: 10, height: 20)
    /// What pictures may take where there is no terminal.
    static let pipeColumns = 80

    var isTerminal: Bool
    var columns: Int
    /// nil: without end, as in a pipe.
    var rows: Int?
    /// The size of one letter in pixels; nil where the terminal does not tell.
    var cell: PixelSize?
    var environment: [String: String]

    /// What a drawing is sent as.
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

    /// Whether another program draws the screen, which does not let pictures pass.
    var isMultiplexed: Bool {
        !variable("TMUX").isEmpty || ["tmux", "screen"].contains { variable("TERM").hasPrefix($0) }
    }

    /// The best language that the terminal has.
    ///
    /// - Parameter attributes: asked for what the terminal says of itself (DA1), only if nothing else tells.
    func language(attributes: () -> [Int]?) -> Language {
        guard isTerminal, !isMultiplexed else { return .blocks }
        let (term, program) = (variable("TERM"), variable("TERM_PROGRAM").lowercased())
        let speaksKitty =
            term.contains("kitty") || term.contains("ghostty") || !variable("KITTY_WINDOW_ID").isEmpty
            || ["wezterm", "ghostty"].contains(program)
        if speaksKitty { return .kitty }
        if ["sixel", "mlterm", "foot"].contains(where: { term.contains($0) }) { return .sixel }
        if term == "dumb" || term == "linux" { return .blocks }
        // The first number is the kind of terminal; 4 among the others: sixel graphics.
        return attributes()?.dropFirst().contains(4) ?? false ? .sixel : .blocks
    }

    /// Whether colours have 24 bits; else the 256 of xterm are used.
    var hasTrueColor: Bool { ["truecolor", "24bit"].contains(variable("COLORTERM").lowercased()) }

    /// The background as far as the environment tells (rxvt's convention, `COLORFGBG`), which half-transparent pixels
    /// are mixed with. Default black.
    var background: RGBColor {
        let last = variable("COLORFGBG").split(separator: ";").last.flatMap { Int($0) }
        return last == 7 || last == 15 ? .white : .black
    }

    /// Asks the terminal what it is, if a person sits before it. Waits up to a second.
    static func askAttributes() -> [Int]? {
        guard isatty(0) == 1, isatty(1) == 1 else { return nil }
        return TerminalQuestion.deviceAttributes(input: 0, output: 1, milliseconds: 1000)
    }
}
