import ArgumentParser
import Foundation
import Logging
import ServerConfiguration
import ServerGrammar
import ServerHTTP
import Tracing
import WebImage

@main
struct WebImageServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webimage-server", abstract: "Serves pictures from other servers in other sizes and formats.",
        discussion: "The settings are environment variables; see Server/Documentation/RunTheServer.md.",
        version: WebImageVersion.text,
        subcommands: [Serve.self, CheckConfig.self, Sign.self, Health.self, Demo.self, FleetDemo.self],
        defaultSubcommand: Serve.self)

    /// Arguments that cannot be parsed end with exit code 2, as wrong settings do.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
            Foundation.exit(2)
        }
    }
}

struct SettingsArguments: ParsableArguments {
    @Option(help: "A file with settings as NAME=VALUE lines. Environment variables override it.")
    var config: String?

    /// - Throws: exit code 2, after all problems have been printed.
    func settings(_ more: [String: String] = [:]) throws -> ServerSettings {
        var variables = more
        if let config {
            guard let text = try? String(contentsOfFile: config, encoding: .utf8) else {
                throw fails("\(config) cannot be read")
            }
            do throws(SettingsError) {
                variables.merge(try SettingsFile.variables(text)) { $1 }
            } catch {
                throw fails("\(config): \(error)")
            }
        }
        for (name, value) in ProcessInfo.processInfo.environment { variables[name] = value }
        let readFile: (String) -> String? = { try? String(contentsOfFile: $0, encoding: .utf8) }
        do {
            return try ServerSettings(
                environment: try SettingsFile.addingLocalFile(to: variables, readFile: readFile), readFile: readFile,
                now: { Int(Date().timeIntervalSince1970) })
        } catch {
            throw fails("\(error)")
        }
    }

    /// - Throws: exit code 2, if a file that the settings name cannot be used.
    func warnings(of settings: ServerSettings) throws -> [String] {
        do throws(SettingsError) { return try ImageServer.warnings(of: settings) } catch { throw fails("\(error)") }
    }

    private func fails(_ text: String) -> ExitCode {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        return ExitCode(2)
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serves until SIGTERM. This is the default.")

    @OptionGroup var file: SettingsArguments

    func run() async throws { try await Self.serve(try file.settings()) }

    static func serve(
        _ settings: ServerSettings, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        HangUp.isIgnoredWithoutTerminal()
        MemoryArenas.limit(workers: settings.workers)
        LineLogHandler.bootstrap(settings)
        let logger = Logger(label: "webimage-server")
        for warning in settings.warnings { logger.warning("\(warning)") }
        if settings.grammar.signatures.keys.isEmpty {
            logger.warning("URLs need no signature, because IMGPROXY_KEY is not set")
        }
        // Leaves room for other files: connections to origins, cache files and decoders would fail if clients took all
        // descriptors.
        let (files, others) = (OpenFileLimit.raise(), 512)
        let room = max(files - others, files / 4)
        var settings = settings
        if settings.maxClients > room {
            logger.warning(
                "only \(room) clients may be connected, not the \(settings.maxClients) of IMGPROXY_MAX_CLIENTS: the process may open \(files) files (ulimit -n)"
            )
            settings.maxClients = room
        }
        let server = try await ImageServer(
            settings: settings, now: { Int(Date().timeIntervalSince1970) }, logger: logger)
        if let tracer = server.tracer { InstrumentationSystem.bootstrap(tracer) }
        try await server.run { port in
            SecondSignal.endsTheProcess(logger)
            onListening(port)
        }
        LineLogHandler.flush()
    }
}

struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Checks the settings and the files that they name. The exit code is 2 if they are wrong.")

    @OptionGroup var file: SettingsArguments

    func run() throws {
        let settings = try file.settings()
        for warning in try settings.warnings + file.warnings(of: settings) { print("warning: \(warning)") }
        print("the settings are valid")
    }
}

struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Signs a path and prints it.")

    @OptionGroup var file: SettingsArguments
    @Argument(help: "The options and the source, such as /rs:fit:300:300/plain/https://example.com/a.jpg")
    var path: String

    func run() throws { print(try file.settings().grammar.signed(path)) }
}
