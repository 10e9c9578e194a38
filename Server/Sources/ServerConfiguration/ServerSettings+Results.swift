import ServerGrammar
import WebImage

extension ServerSettings {
    /// Names the settings that change the bytes of results: what others made is not found, here or in what servers share, once one of
    /// them is another.
    ///
    /// Which formats the server may choose, and what only refuses or only says how an answer is sent, is left out. The watermark's
    /// picture is not a part of it.
    public var resultName: String {
        var output = output
        // A result is asked for by the choice of its format.
        (output.automatic, output.enforced) = ([], [])
        output.returnAttachment = false
        // All of them, so that none that comes later is forgotten.
        var texts = Mirror(reflecting: output).children.map { "\($0.label ?? "")=\(Self.text($0.value))" }
        texts.append("\(limits.sourceResolution),\(limits.animationFrames),\(limits.resultDimension)")
        texts.append("\(watermarkOpacity)")
        return Base64URL.encode(Digest.sha256(Array(texts.joined(separator: ";").utf8)))
    }

    /// The same for the same value in every process, which the order of sets is not.
    private static func text(_ value: Any) -> String {
        switch value {
        case let formats as Set<ResultFormat>: formats.map(\.rawValue).sorted().joined(separator: ",")
        case let numbers as [ResultFormat: Int]: numbers.map { "\($0.rawValue):\($1)" }.sorted().joined(separator: ",")
        default: "\(value)"
        }
    }
}
