import ArgumentParser
import WebImage

/// Which decoders run apart from the command.
struct IsolationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Which decoders run in confined processes of their own: none, automatic or all. Default: automatic.",
            discussion: """
                automatic: all but JPEG, PNG, ICO, and those that are written in Swift (GIF, BMP, QOI, PNM). Where the system \
                has no sandbox, pictures of the other formats are refused; none decodes them without.
                """, valueName: "WHICH"),
        completion: .list(DecoderIsolation.Formats.allCases.map(\.rawValue)))
    var isolation = DecoderIsolation.Formats.automatic.rawValue

    mutating func validate() throws {
        guard DecoderIsolation.Formats(rawValue: isolation) != nil else {
            throw ValidationError("--isolation takes none, automatic or all")
        }
    }

    /// Checked by `validate`.
    var value: DecoderIsolation { DecoderIsolation(DecoderIsolation.Formats(rawValue: isolation) ?? .automatic) }
}
