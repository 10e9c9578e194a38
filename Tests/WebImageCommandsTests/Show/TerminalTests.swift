import Testing
import WebImage
import WebImageCore

@testable import WebImageCommands

/// The language that the command uses for a terminal, and the size of a picture in it.
struct TerminalTests {
    private static func terminal(_ environment: [String: String], isTerminal: Bool = true) -> Terminal {
        Terminal(isTerminal: isTerminal, columns: 80, rows: 24, cell: nil, environment: environment)
    }

    @Test(arguments: [
        (["TERM": "xterm-kitty"], Terminal.Language.kitty), (["TERM": "xterm", "KITTY_WINDOW_ID": "1"], .kitty),
        (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], .kitty), (["TERM_PROGRAM": "ghostty"], .kitty),
        (["TERM": "foot"], .sixel), (["TERM": "mlterm"], .sixel), (["TERM": "xterm-sixel"], .sixel),
        (["TERM": "linux"], .blocks), (["TERM": "dumb"], .blocks),
        // Inside tmux and screen, which draw the screen themselves, whatever the outer terminal is.
        (["TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"], .blocks),
        (["TERM": "xterm-kitty", "TMUX": "/tmp/tmux-1,2,3"], .blocks),
        (["TERM": "screen", "KITTY_WINDOW_ID": "1"], .blocks),
    ])
    func theEnvironmentDecidesTheGraphicsLanguage(environment: [String: String], language: Terminal.Language) {
        var isAsked = false
        let found = Self.terminal(environment).language {
            isAsked = true
            return [62, 4]
        }
        #expect(found == language && !isAsked)
    }

    private static let answers: [([Int]?, Terminal.Language)] = [
        ([62, 4, 22], .sixel), ([62, 22], .blocks), ([4], .blocks), ([], .blocks), (nil, .blocks),
    ]

    @Test(arguments: answers)
    func anUnknownTerminalIsAskedForItsAttributes(attributes: [Int]?, language: Terminal.Language) {
        #expect(Self.terminal(["TERM": "xterm-256color"]).language { attributes } == language)
    }

    @Test func aPipeIsNeverAskedAndGetsBlocks() {
        let pipe = Self.terminal(["TERM": "xterm-kitty"], isTerminal: false)
        let language = pipe.language {
            Issue.record("a pipe was asked")
            return nil
        }
        #expect(language == .blocks)
    }

    @Test func coloursAndBackgroundFollowTheEnvironment() {
        #expect(
            Self.terminal(["COLORTERM": "truecolor"]).hasTrueColor && Self.terminal(["COLORTERM": "24bit"]).hasTrueColor
        )
        #expect(!Self.terminal(["COLORTERM": "yes"]).hasTrueColor && !Self.terminal([:]).hasTrueColor)
        #expect(Self.terminal(["COLORFGBG": "0;15"]).background == .white)
        #expect(Self.terminal(["COLORFGBG": "15;0"]).background == .black && Self.terminal([:]).background == .black)
    }

    /// The size in which a picture is drawn.
    private static func drawn(
        _ width: Int, _ height: Int, _ language: Terminal.Language, wish: (width: Int?, height: Int?)? = nil,
        columns: Int = 80, rows: Int? = 24, cell: PixelSize? = nil
    ) throws -> PixelSize {
        let terminal = Terminal(isTerminal: true, columns: columns, rows: rows, cell: cell, environment: [:])
        let size = DrawingSize(wish, language, terminal)
        let image = try Image(size: PixelSize(width: width, height: height), alpha: .opaque) { _ in }
        return try size.fitted(image.resized(to: size.target)).size
    }

    @Test func blocksAreTwoPixelsALetter() throws {
        // Two lines are left for the caption and the prompt.
        #expect(try Self.drawn(400, 300, .blocks) == PixelSize(width: 59, height: 44))
        #expect(try Self.drawn(1000, 100, .blocks) == PixelSize(width: 80, height: 8))
        #expect(try Self.drawn(16, 16, .blocks) == PixelSize(width: 16, height: 16))
        #expect(try Self.drawn(400, 3000, .blocks, rows: nil) == PixelSize(width: 80, height: 600))
        #expect(try Self.drawn(500, 500, .blocks, columns: 1, rows: 1) == PixelSize(width: 1, height: 1))
    }

    @Test func pixelsOfTheScreenAreUsedWhereThereAreAny() throws {
        let cell = PixelSize(width: 8, height: 16)
        #expect(try Self.drawn(4000, 1000, .sixel, cell: cell) == PixelSize(width: 640, height: 160))
        #expect(try Self.drawn(1000, 4000, .kitty, cell: cell) == PixelSize(width: 88, height: 352))
        #expect(try Self.drawn(100, 100, .kitty, cell: cell) == PixelSize(width: 100, height: 100))
        #expect(try Self.drawn(4000, 1000, .sixel) == PixelSize(width: 800, height: 200))
    }

    @Test func aRequestedSizeNeverExceedsTheTerminalsWidth() throws {
        #expect(try Self.drawn(400, 300, .blocks, wish: (40, nil)) == PixelSize(width: 40, height: 30))
        #expect(try Self.drawn(400, 300, .blocks, wish: (400, nil)) == PixelSize(width: 80, height: 60))
        #expect(try Self.drawn(400, 300, .blocks, wish: (nil, 30)) == PixelSize(width: 40, height: 30))
        #expect(try Self.drawn(400, 300, .blocks, wish: (50, 15)) == PixelSize(width: 20, height: 15))
        #expect(try Self.drawn(4000, 3000, .sixel, wish: (nil, 1200)) == PixelSize(width: 800, height: 600))
    }

    @Test func cellsOfAnotherShapeKeepTheAspectRatio() throws {
        // A dot is 10 wide and 12 high, so a square picture has fewer dots vertically than horizontally.
        let cell = PixelSize(width: 10, height: 24)
        #expect(try Self.drawn(60, 60, .blocks, rows: nil, cell: cell) == PixelSize(width: 60, height: 50))
        let flat = PixelSize(width: 10, height: 15)
        #expect(try Self.drawn(60, 60, .blocks, rows: nil, cell: flat) == PixelSize(width: 60, height: 80))
        #expect(try Self.drawn(600, 6000, .blocks, cell: cell).height <= 44)
    }
}
