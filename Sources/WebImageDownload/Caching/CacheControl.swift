/// The directives of a `Cache-Control` field, of a request or an answer (RFC 9111 section 5.2, RFC 5861, RFC 8246).
///
/// Parsing never fails. Unknown directives are ignored; if a directive is repeated, the first one counts. An invalid
/// value is read in the safer way: a `max-age` that is not a number is 0, a `no-store` with an argument is a
/// `no-store`.
package struct CacheControl: Hashable, Sendable {
    /// The extent of a directive that may be limited to some fields.
    package enum Reach: Hashable, Sendable {
        case nothing
        /// Names in lower case.
        case fields([String])
        case everything
    }

    package private(set) var noStore = false
    package private(set) var noCache = Reach.nothing
    package private(set) var mustRevalidate = false
    /// Like `mustRevalidate`, but for shared caches only.
    package private(set) var proxyRevalidate = false
    package private(set) var mustUnderstand = false
    package private(set) var isPublic = false
    package private(set) var isPrivate = false
    package private(set) var immutable = false
    package private(set) var onlyIfCached = false
    /// In seconds, like all that follow.
    package private(set) var maxAge: Int64?
    /// For shared caches, instead of `maxAge` (`s-maxage`).
    package private(set) var sharedMaxAge: Int64?
    package private(set) var minFresh: Int64?
    /// `Int64.max` for a directive without a number.
    package private(set) var maxStale: Int64?
    package private(set) var staleWhileRevalidate: Int64?
    package private(set) var staleIfError: Int64?

    private static let maxFields = 32

    private enum Argument {
        case none
        case value(String)
        case malformed

        var text: String? { if case .value(let text) = self { text } else { nil } }
        var isNone: Bool { if case .none = self { true } else { false } }
    }

    package init(_ value: String? = nil) {
        guard let value else { return }
        var scanner = FieldScanner(value)
        while let (name, argument) = Self.nextDirective(&scanner) {
            // What follows a quote without an end may be inside or outside of a string: only what forbids counts.
            if scanner.ignoresQuotes, !Self.forbidding.contains(name.lowercased()) { continue }
            take(name.lowercased(), argument)
        }
    }

    private static let forbidding: Set = ["no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate"]

    private static func nextDirective(_ scanner: inout FieldScanner) -> (String, Argument)? {
        scanner.skipToElement()
        while !scanner.isAtEnd {
            guard let name = scanner.token() else {
                // Not a directive. The scanner must move on even at a lone quote.
                _ = scanner.element()
                scanner.skipToElement()
                continue
            }
            var argument = Argument.none
            if scanner.skip(UInt8(ascii: "=")) {
                let isQuoted = scanner.next == UInt8(ascii: "\"")
                let text = isQuoted ? scanner.quotedString() : scanner.token()
                argument = text.map(Argument.value) ?? .malformed
            }
            if !scanner.element().isEmpty { argument = .malformed }
            return (name, argument)
        }
        return nil
    }

    private mutating func take(_ name: String, _ argument: Argument) {
        switch name {
        // Directives that forbid are respected in any spelling; those that permit must be correct.
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "only-if-cached": onlyIfCached = true
        case "no-cache": noCache = noCache.joined(with: Self.reach(argument))
        case "private": isPrivate = isPrivate || Self.reach(argument) == .everything
        case "public": isPublic = isPublic || argument.isNone
        case "immutable": immutable = immutable || argument.isNone
        case "must-understand": mustUnderstand = mustUnderstand || argument.isNone
        case "max-age": maxAge = maxAge ?? Self.seconds(argument) ?? 0
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? Self.seconds(argument) ?? 0
        case "min-fresh": minFresh = minFresh ?? Self.seconds(argument) ?? DeltaSeconds.most
        case "max-stale": maxStale = maxStale ?? (argument.isNone ? .max : Self.seconds(argument) ?? 0)
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument) ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(argument) ?? 0
        default: break  // no-transform is for proxies.
        }
    }

    private static func seconds(_ argument: Argument) -> Int64? { argument.text.flatMap { DeltaSeconds.parse($0) } }

    private static func reach(_ argument: Argument) -> Reach {
        guard let text = argument.text else { return .everything }
        let names = FieldScanner.elements(of: text)
        let areNames = names.allSatisfy { FieldScanner.isToken($0) }
        guard areNames, !names.isEmpty, names.count <= maxFields else { return .everything }
        return .fields(names.map { $0.lowercased() })
    }
}

extension CacheControl.Reach {
    fileprivate func joined(with other: Self) -> Self {
        switch (self, other) {
        case (.everything, _), (_, .everything): .everything
        case (.nothing, let reach), (let reach, .nothing): reach
        case (.fields(let some), .fields(let more)): some.count < 256 ? .fields(some + more) : .everything
        }
    }
}
