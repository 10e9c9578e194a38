#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The program `webimage-gallery`.
@MainActor public enum GalleryProgram {
    /// Runs the program with the process's arguments, and ends the process: with 0, or with 1 after printing an error.
    public static func run() -> Never {
        do throws(OptionError) {
            let options = try GalleryOptions(Array(CommandLine.arguments.dropFirst()))
            if options.showsHelp {
                print(GalleryOptions.help)
                exit(0)
            }
            start(options)
        } catch {
            fail(error.message)
        }
    }

    /// Prints an error, and ends the process with 1.
    static func fail(_ message: String) -> Never {
        let line = Array("webimage-gallery: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(1)
    }

    #if GTK
        private static func start(_ options: GalleryOptions) -> Never {
            let message = GallerySession(options).run()
            if let message { fail(message) }
            exit(0)
        }
    #else
        private static func start(_ options: GalleryOptions) -> Never {
            fail("it was built without GTK; build it with --traits GTK")
        }
    #endif
}
