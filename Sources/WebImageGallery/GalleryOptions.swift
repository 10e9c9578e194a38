/// What the command line says.
struct GalleryOptions: Equatable {
    /// What is shown; without any, and without a list, the pictures of the demo's origin.
    var inputs: [String] = []
    /// A file with an input a line.
    var inputList: String?
    var isDark = false
    var showsHelp = false
    /// What the program does by itself before it ends.
    var script: GalleryScript?

    static let help = """
        usage: webimage-gallery [URL or file ...] [--input-list FILE] [--dark]

        Shows pictures in a grid, and each one large. Without URLs it shows those of a server of its own.

          --input-list FILE   also shows what stands in the file, one URL or path a line
          --dark              begins with the dark style
          --screenshots DIR   writes pictures of the window into a folder, and ends
          --script scroll     tests itself: scrolls through numbered pictures, and ends
          --help              this text

        Keys: Ctrl+F searches, Enter opens a picture, Escape goes back, F5 loads failed pictures again, F9 shows and hides
        the panel, Ctrl+D changes the style, Ctrl+Q quits. In a large picture: Left and Right go to the next ones, + and -
        zoom, 0 fits it to the window, 1 shows it pixel by pixel.
        """

    init(_ words: [String]) throws(OptionError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--dark": isDark = true
            case "--input-list": inputList = try Self.value(of: word, &rest)
            case "--screenshots": script = .screenshots(folder: try Self.value(of: word, &rest))
            case "--script":
                let name = try Self.value(of: word, &rest)
                guard name == "scroll" else { throw OptionError("there is no script named \(name)") }
                script = .scroll
            case "--":
                inputs += rest
                rest = []
            default:
                guard !word.hasPrefix("--") else { throw OptionError("there is no option \(word); --help tells which") }
                inputs.append(word)
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(OptionError) -> String {
        guard let value = rest.popFirst() else { throw OptionError("\(option) needs a value") }
        return value
    }
}

/// What the program does by itself.
enum GalleryScript: Equatable {
    /// Scrolls through numbered pictures, and looks whether each cell shows its own.
    case scroll
    /// Writes pictures of the window.
    case screenshots(folder: String)
}

/// A command line that cannot be understood.
struct OptionError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
