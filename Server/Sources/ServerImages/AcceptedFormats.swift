import ServerConfiguration
public import ServerGrammar

/// The newer formats that a client accepts, by its `Accept` field (RFC 9110, section 12.5.1).
public struct AcceptedFormats: Hashable, Sendable {
    public private(set) var formats: Set<ResultFormat> = []

    /// A format counts if it is named and its `q` is not 0; wildcards count for no format.
    public init(accept: String?) {
        guard let accept else { return }
        for range in accept.utf8.prefix(4096).split(separator: UInt8(ascii: ",")) {
            let parts = range.split(separator: UInt8(ascii: ";")).map { part in
                String(decoding: part, as: UTF8.self).lowercased().filter { !$0.isWhitespace }
            }
            guard let type = parts.first, type.hasPrefix("image/"),
                let format = ResultFormat(name: type.dropFirst(6)), ResultFormat.negotiated.contains(format)
            else { continue }
            let isRefused = parts.dropFirst().contains { part in
                part.hasPrefix("q=") && (Double(part.dropFirst(2)) ?? 1) <= 0
            }
            if !isRefused { formats.insert(format) }
        }
    }

    /// The accepted ones of the wanted formats, best first.
    func best(of wanted: Set<ResultFormat>) -> [ResultFormat] {
        ResultFormat.negotiated.filter { wanted.contains($0) && formats.contains($0) }
    }
}
