import ServerGrammar
import WebImage

extension ServerSettings {
    /// Identifies the settings that change the bytes of results. If one of them changes, results that were made with
    /// the old value are no longer found, here or in shared caches.
    ///
    /// Settings that only affect how an answer is sent are left out, as are the formats that the server may choose and the
    /// watermark's picture.
    public var resultName: String {
        var output = output
        // The chosen format is a part of a result's key already.
        (output.automatic, output.enforced) = ([], [])
        output.returnAttachment = false
        // Takes all members, so that one that is added later is not forgotten.
        var texts = Mirror(reflecting: output).children.map { "\($0.label ?? "")=\(Self.text($0.value))" }
        texts.append("\(limits)")
        texts.append("\(watermarkOpacity)")
        return Base64URL.encode(Digest.sha256(Array(texts.joined(separator: ";").utf8)))
    }

    /// The same text for the same value in every process, although the order of sets differs.
    private static func text(_ value: Any) -> String {
        switch value {
        case let formats as Set<ResultFormat>: formats.map(\.rawValue).sorted().joined(separator: ",")
        case let numbers as [ResultFormat: Int]: numbers.map { "\($0.rawValue):\($1)" }.sorted().joined(separator: ",")
        default: "\(value)"
        }
    }
}
