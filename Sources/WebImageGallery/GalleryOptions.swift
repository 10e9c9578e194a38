/// The options and arguments of the command line.
struct GalleryOptions: Equatable {
    /// The pictures to show. Without inputs and a list, the pictures of the demo's server are shown.
    var inputs: [String] = []
    /// A file with one input on each line.
    var inputList: String?
    var isDark = false
    var showsHelp = false
    /// The script that the program runs before it ends.
    var script: GalleryScript?

    static let help = """
        usage: webimage-gallery [URL or file ...] [--input-list FILE] [--dark]

        Shows pictures in a grid and one by one. Without URLs it shows sample pictures from a built-in server.

          --input-list FILE   also shows the URLs and paths in a file, one per line
          --dark              starts with the dark style
          --screenshots DIR   writes screenshots of the window into a folder, and quits
          --script scroll     runs a self-test: scrolls through numbered pictures, and quits
          --help              shows this text

        Keys: Ctrl+F searches, Enter opens a picture, Escape goes back, F5 loads failed pictures again, F9 shows and hides
        the panel, Ctrl+D changes the style, Ctrl+Q quits. In a single picture: Left and Right show the previous and the
        next one, + and - zoom, 0 fits it to the window, 1 shows it at its original size.
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
                guard !word.hasPrefix("--") else { throw OptionError("there is no option \(word); see --help") }
                inputs.append(word)
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(OptionError) -> String {
        guard let value = rest.popFirst() else { throw OptionError("\(option) needs a value") }
        return value
    }
}

/// A script that the program can run.
enum GalleryScript: Equatable {
    /// Scrolls through numbered pictures, and checks that each cell shows its own picture.
    case scroll
    /// Writes screenshots of the window.
    case screenshots(folder: String)
}

/// An invalid command line.
struct OptionError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
