#if GTK
    import WebImageTesting

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// A virtual display (Xvfb), started once for all tests. It ends with the tests' process, however that ends.
    struct VirtualDisplay {
        static let isAvailable = PeerProcess.find("Xvfb") != nil

        /// The display's name for the variable `DISPLAY`, or nil if it did not start.
        static let name = start()

        private static func start() -> String? {
            guard let program = PeerProcess.find("Xvfb") else { return nil }
            // The shell kills the display when the pipe that it reads from is closed, which happens even if the tests
            // crash. It uses SIGKILL because threads of Swift's pool block all other signals and started processes
            // inherit that. Without -noreset, the display would restart when its last client leaves, and not accept the
            // next one meanwhile.
            let script =
                "'\(program)' -displayfd 1 -noreset -screen 0 1280x1024x24 -nolisten tcp & read -r line; kill -9 $!"
            let (life, answers) = (Pipe(), Pipe())
            let words = ["/bin/sh", "-c", script]
            guard (try? PeerProcess.spawn(words, input: life.output, output: answers.input, errors: -1)) != nil else {
                return nil
            }
            close(life.output)
            close(answers.input)
            let number = answers.readLine()
            return number.isEmpty ? nil : ":\(number)"
        }
    }

    /// A pipe: bytes that are written to `input` are read from `output`.
    struct Pipe {
        let input: Int32
        let output: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            _ = pipe(&ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (output, input) = (ends[0], ends[1])
        }

        /// Reads to the end of the first line, or to the end of the pipe.
        func readLine() -> String {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
            return String(decoding: line, as: UTF8.self)
        }

        /// Reads until the last writer closes the pipe.
        func readAll() -> String {
            var (text, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 4096))
            while true {
                let count = read(output, &buffer, buffer.count)
                guard count > 0 else { return String(decoding: text, as: UTF8.self) }
                text += buffer[..<count]
            }
        }
    }
#endif
