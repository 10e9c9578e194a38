public import ArgumentParser
import Foundation
import WebImage
import WebImageSystem

/// The command `webimage`.
public struct WebImageCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "webimage",
        abstract: "Loads, inspects, converts and shows pictures.",
        discussion: """
            An input is an http, https, file or data URL, or a path. - is standard input, or standard output.

            Examples:
              webimage fetch https://example.com/a.jpg -o a.jpg
              webimage fetch --input-list urls.txt -o pictures/ --size 400x --json
              webimage info *.png
              webimage convert in.png out.jpg --size 800x600 --fit cover --quality 85
              webimage show https://example.com/a.jpg *.png

            Exit codes: 0 if all went well, 1 if some inputs failed (the others are still processed), 2 for wrong usage.
            Shell completions: webimage --generate-completion-script bash|zsh|fish
            To try it with sample pictures: webimage demo
            """,
        version: WebImageVersion.text,
        subcommands: [
            FetchCommand.self, PrefetchCommand.self, InfoCommand.self, ConvertCommand.self, ShowCommand.self,
            CacheCommand.self, DemoCommand.self,
        ]
    )

    public init() {}

    /// Runs the command with the process's arguments and ends the process.
    public static func runAndExit() async -> Never {
        Console.prepare()
        ProcessMemory.returnEarly()
        for place in 1..<max(Int(CommandLine.argc), 1) {
            guard let text = CommandLine.unsafeArgv[place], String(validatingCString: text) == nil else { continue }
            Console.err("Error: argument \(place) is not valid UTF-8; files with such names cannot be opened")
            Foundation.exit(2)
        }
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        if let fault = Console.outputFault {
            Console.err("error: \(fault)")
            Foundation.exit(max(code, someFailed.rawValue))
        }
        Foundation.exit(code)
    }

    /// Whether an argument is the name of a file that begins with a dash. The parser would take its letters for
    /// options, and an h among them for the request for help.
    private static func isNameLikeOptions(_ argument: String) -> Bool {
        guard argument.hasPrefix("-"), let second = argument.dropFirst().first, argument.count > 2 else { return false }
        return second != "-" && !second.isNumber && argument.contains { $0 == "." || $0 == "/" }
    }

    /// Runs the command.
    ///
    /// - Returns: the exit code.
    public static func run(_ arguments: [String]) async -> Int32 {
        if let message = CommandSuggestion.message(for: arguments) {
            Console.err("Error: \(message)\n  See 'webimage --help' for more information.")
            return 2
        }
        if let name = arguments.prefix(while: { $0 != "--" }).first(where: isNameLikeOptions) {
            let shown = Console.shown(name, most: 60)
            Console.err("Error: there is no option '\(shown)'; for a file of that name write './\(shown)'")
            return 2
        }
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        } catch let error as WebImageError {
            Console.err("error: \(PictureReport.sentence(error))")
            return someFailed.rawValue
        } catch let error as ValidationError {
            // An error that a command found while it ran. The usage text would not help with it.
            Console.err("Error: \(error.message)")
            return 2
        } catch {
            let isHelp = exitCode(for: error).isSuccess
            let text = fullMessage(for: error)
            if !text.isEmpty { isHelp ? Console.out(text) : Console.err(text) }
            return isHelp ? 0 : 2
        }
    }
}

/// The usage error for a flag that this build of the command does not support.
func unavailable(_ flag: String) -> ValidationError { ValidationError("\(flag): not available in this build") }

/// The exit code if some input failed and was reported.
let someFailed = ExitCode(1)
