import ArgumentParser

/// A command that scripts know and this build does not have: wrong usage that says so, whatever follows it.
protocol UnavailableCommand: ParsableCommand {
    static var fullName: String { get }
    var rest: [String] { get }
}

extension UnavailableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: fullName.split(separator: " ").last.map(String.init), abstract: "Not available in this build.",
            shouldDisplay: false)
    }

    func validate() throws { throw unavailable(Self.fullName) }
}

struct UnavailablePrefetch: UnavailableCommand {
    static let fullName = "prefetch"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}
