import FleetCoordination
import ServerGrammar

/// Encodes the outcomes of making pictures that the servers of a fleet send each other.
enum SharedOutcome {
    /// The time in milliseconds for which a result that is not fresh is available to servers that wait for it.
    private static let momentary = 1000
    private static let longest = 3_600_000

    /// Tells other servers to look in the storage or to make the picture themselves.
    static let unshared = Fleet.Shared(.unshared, life: momentary)

    /// Encodes a result or a refusal for other servers.
    ///
    /// - Parameters:
    ///   - source: the URL of the source.
    ///   - most: longer results are not shared.
    ///   - now: seconds since 1970.
    /// - Returns: nil if the others must try themselves.
    static func shared(
        _ result: Result<PictureMaker.Made, RequestRefusal>, source: String, most: Int, now: Int
    ) -> Fleet.Shared? {
        switch result {
        case .success(let made):
            let result = made.result
            if result.freshness.forbidsStoring || result.bytes.count > most {
                return unshared
            }
            let fresh = max(result.freshness.freshUntil - now, 0)
            return Fleet.Shared(
                .result, bytes(of: result), life: max(min(fresh * 1000, longest), momentary), tags: result.tags)
        case .failure(let refusal):
            guard let life = life(of: refusal, source) else {
                // Those that wait try at once, each for itself and not one after the other.
                return refusal.fault == .unreached && !source.hasPrefix("local:") ? unshared : nil
            }
            return Fleet.Shared(.failure, bytes(of: refusal), life: life.milliseconds, ofSource: life.isOfSource)
        }
    }

    /// How long the same failure holds for all servers, and whether it holds for all results of the source; nil: it
    /// concerns only this client or this server.
    private static func life(
        of refusal: RequestRefusal, _ source: String
    ) -> (milliseconds: Int, isOfSource: Bool)? {
        switch (refusal.kind, refusal.status) {
        // Each server has files of its own.
        case (.download, _) where source.hasPrefix("local:"): nil
        // These answers of an origin may be others a moment later, or to another server. The library's `FailedURLPolicy`
        // does not block such URLs either.
        case (.download, 401), (.download, 407), (.download, 408), (.download, 421), (.download, 425),
            (.download, 429):
            nil
        case (.download, _):
            switch refusal.fault {
            case .down: (5000, true)
            // The others do not wait for the origin one after the other. A server that asks later tries for itself: it
            // may have another way to the origin.
            case .silent: (momentary, false)
            // The fault may be this server's own name server, network or list of authorities.
            case .unreached: nil
            default: (60_000, true)
            }
        // What cannot be decoded with some options may be decodable with others, such as a first frame or a thumbnail.
        case (.processing, 422) where refusal.isOfSource: (600_000, refusal.fault != .broken)
        default: nil
        }
    }

    private static func bytes(of result: StoredResult) -> [UInt8] {
        let description = result.description
        return Array("\(description.count)\n".utf8) + description + result.bytes
    }

    /// - Returns: nil if another version of this server wrote the content.
    static func result(_ content: [UInt8]) -> StoredResult? {
        guard let line = content.prefix(16).firstIndex(of: UInt8(ascii: "\n")),
            let length = Int(String(decoding: content[..<line], as: UTF8.self)), length >= 0,
            length <= content.count - line - 1
        else { return nil }
        let body = line + 1 + length
        return StoredResult(Array(content[body...]), description: Array(content[line + 1..<body]))
    }

    private static func bytes(of refusal: RequestRefusal) -> [UInt8] {
        let lines = [
            "\(refusal.status)", refusal.kind.rawValue, refusal.fault?.rawValue ?? "",
            refusal.retryAfter.map { "\($0)" } ?? "", refusal.text, refusal.detail,
        ]
        return Array(lines.map { $0.filter { $0 != "\n" } }.joined(separator: "\n").utf8)
    }

    static func refusal(_ content: [UInt8]) -> RequestRefusal? {
        let lines = String(decoding: content, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 6, let status = Int(lines[0]), (400..<600).contains(status),
            let kind = RequestRefusal.Kind(rawValue: lines[1])
        else { return nil }
        var refusal = RequestRefusal(
            status: status, text: lines[4], kind: kind, detail: lines[5], retryAfter: Int(lines[3]))
        refusal.fault = RequestRefusal.SourceFault(rawValue: lines[2])
        return refusal
    }
}
