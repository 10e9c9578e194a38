import ArgumentParser
import Foundation
import Logging
import ServerConfiguration
import WebImage

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks whether the server with these settings is running. The exit code is 0 if it is, 1 if not, "
            + "and 2 if the settings are wrong.")

    @OptionGroup var file: SettingsArguments

    func run() async throws {
        let settings = try file.settings()
        guard case .tcp(let host, let port) = settings.address else {
            print("health cannot check servers on a Unix socket")
            throw ExitCode(1)
        }
        let name = ["", "0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.timeout = .seconds(5)
        // The server is on this machine.
        configuration.download.proxy = .direct
        // The certificate is not checked, because it is for the name that clients use. The log level suppresses the
        // warning about that.
        configuration.download.tls.trust = .anyone
        configuration.logger.logLevel = .error
        let scheme = settings.certificate == nil ? "http" : "https"
        let manager = ImageManager(configuration: configuration)
        defer { manager.shutDown() }
        guard (try? await manager.data(for: ImageRequest("\(scheme)://\(name):\(port)/health"))) != nil else {
            print("no answer from \(name):\(port)")
            throw ExitCode(1)
        }
        print("ok")
    }
}
