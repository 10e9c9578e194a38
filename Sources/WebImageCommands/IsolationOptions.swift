import ArgumentParser
import WebImage

/// Which decoders run in another process.
struct IsolationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Which decoders run in sandboxed processes: none, automatic or all.",
            discussion: """
                automatic: all decoders except those of JPEG, PNG, ICO, GIF, BMP, QOI and PNM. On a system without a \
                sandbox, pictures that need one are refused; with none they are decoded without it.
                """, valueName: "WHICH"),
        completion: .list(DecoderIsolation.Formats.allCases.map(\.rawValue)))
    var isolation = DecoderIsolation.Formats.automatic.rawValue

    mutating func validate() throws {
        guard DecoderIsolation.Formats(rawValue: isolation) != nil else {
            throw ValidationError("--isolation takes none, automatic or all")
        }
    }

    /// The option was checked by `validate`.
    var value: DecoderIsolation { DecoderIsolation(DecoderIsolation.Formats(rawValue: isolation) ?? .automatic) }
}
