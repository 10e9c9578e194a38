#if GTK
    import Testing
    import WebImageCore
    import WebImageTesting

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// The output of a run of the program of `Tests/GTKProbe`, whose executable is beside the tests'.
    struct Probe {
        /// All lines of the output, without the last, which says that the script has ended.
        let lines: [String]

        /// Runs a script of the probe to its end.
        ///
        /// - Parameters:
        ///   - script: the script's name.
        ///   - settings: further environment variables, besides those that make GTK draw without a graphics card and
        ///     without a bus.
        init(_ script: String, _ settings: [String] = []) throws {
            try self.init(program: "gtk-probe", [script], settings, last: "end of \(script)")
        }

        /// Runs a program whose executable is beside the tests' to its end.
        ///
        /// - Parameters:
        ///   - program: the program's name.
        ///   - arguments: the program's arguments.
        ///   - last: the last line that the program prints.
        init(program: String, _ arguments: [String], _ settings: [String] = [], last: String) throws {
            let display = try #require(VirtualDisplay.name, "Xvfb does not start")
            let environment = ["DISPLAY=\(display)", "GSK_RENDERER=cairo", "GTK_A11Y=none", "GDK_BACKEND=x11"]
            let output = Pipe()
            let words = ["/usr/bin/env"] + environment + settings + ["\(try Self.folder())/\(program)"] + arguments
            let process = try PeerProcess.spawn(words, input: -1, output: output.input, errors: 2)
            close(output.input)
            let text = output.readAll()
            close(output.output)
            var status: Int32 = 0
            while waitpid(process, &status, 0) == -1 && errno == EINTR {}
            let lines = text.split(separator: "\n").map(String.init)
            try #require(status == 0 && lines.last == last, "\(program) has ended early: \(text)")
            self.lines = lines.dropLast()
        }

        /// The values of all lines of `name value` with the given name.
        func facts(_ name: String) -> [String] {
            lines.filter { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
        }

        private static func folder() throws -> String {
            let tests = try #require(realpath("/proc/self/exe", nil))
            defer { free(tests) }
            return String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined()
        }
    }

    /// Whether a probe's colour, as `RRGGBBAA`, equals `color` except for some levels of rounding.
    func isNear(_ hex: String, _ color: [Int], within levels: Int = 1) -> Bool {
        guard let word = UInt32(hex, radix: 16) else { return false }
        let channels = [24, 16, 8, 0].map { Int(word >> $0 & 0xFF) }
        return zip(channels, color).allSatisfy { abs($0 - $1) <= levels }
    }
#endif
