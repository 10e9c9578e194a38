import FleetCoordination
import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import WebImage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON body of a purge request: `{"urls": ["https://example.com/a.jpg"], "prefixes": [...], "tags": [...]}` or
/// `{"all": true}`.
struct PurgeOrder: Decodable {
    var urls: [String]?
    var prefixes: [String]?
    var tags: [String]?
    var all: Bool?
    /// Whether this server purges now, and tells the others when it can. Default false: all servers purge, or none.
    var local: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case urls, prefixes, tags, all, local
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Unknown members are refused, so that a misspelt purge does not look as if it had succeeded.
    init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys
        where CodingKeys(rawValue: key.stringValue) == nil {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [key], debugDescription: "a purge has no member \(key.stringValue)"))
        }
        let members = try decoder.container(keyedBy: CodingKeys.self)
        urls = try members.decodeIfPresent([String].self, forKey: .urls)
        prefixes = try members.decodeIfPresent([String].self, forKey: .prefixes)
        tags = try members.decodeIfPresent([String].self, forKey: .tags)
        all = try members.decodeIfPresent(Bool.self, forKey: .all)
        local = try members.decodeIfPresent(Bool.self, forKey: .local)
    }

    /// - Parameter grammar: completes URLs as in the paths of pictures.
    func purges(_ grammar: URLGrammar) -> [Purge] {
        (urls ?? []).map { .url(grammar.source(named: $0)) } + (prefixes ?? []).map(Purge.prefix)
            + (tags ?? []).map(Purge.tag)
            + (all == true ? [.all] : [])
    }
}

/// The endpoint for operators, at an address of its own: purges, metrics, health.
struct AdminEndpoint: Sendable {
    static let longestBody = 1 << 20
    private static let maxPurges = 1000

    let endpoint: ImageEndpoint

    /// How the body of a request arrived.
    enum Body: Sendable {
        case bytes([UInt8])
        /// It is longer than ``longestBody``, or its end did not come.
        case unusable
        /// Its end did not come in time.
        case late
    }

    /// - Parameter body: reads the body of the request. It is called only if the request may use it.
    func answer(_ request: HTTPRequest, body: () async -> Body) async -> Answer {
        let path = String((request.path ?? "").prefix { $0 != "?" })
        do throws(RequestRefusal) {
            // The body of an answer to HEAD is dropped when the answer is written.
            switch (path, request.method == .head ? .get : request.method) {
            case ("/health", .get): return .text("webimage is running")
            case ("/ready", .get): return endpoint.readiness
            case ("/metrics", .get), ("/", .get):
                return .text(endpoint.metricsText, type: "text/plain; version=0.0.4; charset=utf-8")
            case ("/purge", .post):
                try endpoint.authorisePurge(request)
                switch await body() {
                case .bytes(let bytes): return try await purge(bytes)
                case .unusable: return Self.failure("a purge has 1 MiB at most", status: 413)
                case .late: return Self.failure("the body of the request did not arrive in time", status: 408)
                }
            case ("/purge", _):
                var answer = Self.failure("a purge is a POST", status: 405)
                answer.fields[.allow] = "POST"
                return answer
            default: return Answer(status: 404)
            }
        } catch {
            return Self.failure(error.detail, status: error.status)
        }
    }

    private func purge(_ body: [UInt8]) async throws(RequestRefusal) -> Answer {
        let order: PurgeOrder
        do {
            order = try JSONDecoder().decode(PurgeOrder.self, from: Data(body))
        } catch {
            return Self.failure(Self.text(error), status: 400)
        }
        let purges = order.purges(endpoint.settings.grammar)
        guard !purges.isEmpty, purges.count <= Self.maxPurges else {
            return Self.failure("a purge names 1 to \(Self.maxPurges) things, not \(purges.count)", status: 400)
        }
        try await endpoint.service.purging.purge(purges, onlyHere: order.local == true)
        let fleet = endpoint.service.purging.fleet
        return .text(
            JSONValue.object([
                ("purged", .whole(purges.count)), ("servers", .whole(order.local == true ? 1 : fleet?.servers ?? 1)),
            ]).text, type: "application/json")
    }

    private static func text(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return place.isEmpty ? "a purge is a JSON object" : "\(place): \(context.debugDescription)"
        case nil: return "a purge is a JSON object"
        @unknown default: return "a purge is a JSON object"
        }
    }

    private static func failure(_ detail: String, status: Int) -> Answer {
        .text(JSONValue.object([("error", .text(detail))]).text, status: status, type: "application/json")
    }
}
