import Synchronization
package import WebImageCache
package import WebImageCore
import WebImageSystem

/// A tier of bytes in memory. A test can make its calls fail, wait or never end.
package final class MemoryTier: BytesTier {
    /// The calls of a tier.
    package enum Call: String, Sendable, CaseIterable {
        case entry, metadata, put, renew, remove
    }

    /// The behaviour of a call.
    package enum Trouble: Sendable {
        case none
        /// The call fails at once, and changes nothing.
        case fails
        /// The same, with this code.
        case failsWith(WebImageError.Code)
        /// The tier works, but refuses this call at once, and changes nothing.
        case refuses
        /// The call does its work, and then fails.
        case failsAfterwards
        /// The call waits for ``open()``, or until it is cancelled.
        case waits
        /// The call waits for ``open()``, even if it is cancelled.
        case waitsStubbornly
    }

    private struct State {
        var entries: [CacheKey: TierEntry] = [:]
        var calls: [Call] = []
        var trouble: @Sendable (Call) -> Trouble = { _ in .none }
        var gate = Gate()
    }

    package let readDeadline: Duration
    package let changeDeadline: Duration
    package let longestBody: ByteCount?
    private let limit: ByteCount
    private let state = Guarded(State())

    /// - Parameter limit: the most bytes of all bodies together; a `put` that does not fit is refused.
    package init(
        limit: ByteCount = .mebibytes(64), readDeadline: Duration = .milliseconds(50),
        changeDeadline: Duration = .seconds(5), longestBody: ByteCount? = nil
    ) {
        self.limit = limit
        self.readDeadline = readDeadline
        self.changeDeadline = changeDeadline
        self.longestBody = longestBody
    }

    /// The calls so far, in order.
    package var calls: [Call] { state.withLock { $0.calls } }
    package var entries: [CacheKey: TierEntry] { state.withLock { $0.entries } }

    package func count(_ call: Call) -> Int { calls.count { $0 == call } }

    /// Sets the behaviour of each call from now on.
    package func setTrouble(_ trouble: @escaping @Sendable (Call) -> Trouble) {
        state.withLock { $0.trouble = trouble }
    }

    /// Lets the waiting calls continue. Later calls wait again.
    package func open() {
        let gate = state.withLock { state in
            defer { state.gate = Gate() }
            return state.gate
        }
        gate.open()
    }

    // MARK: - The tier

    package func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry? {
        try await run(.entry) { $0.entries[key] }
    }

    package func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata? {
        try await run(.metadata) { $0.entries[key]?.metadata }
    }

    package func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool {
        let limit = limit.bytes
        return try await run(.put) { state in
            let others = state.entries.reduce(0) { $0 + ($1.key == key ? 0 : $1.value.body.count) }
            guard others + entry.body.count <= limit else { return false }
            state.entries[key] = entry
            return true
        }
    }

    package func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        try await run(.renew) { state in
            guard let old = state.entries[key], let new = change(old.metadata) else { return false }
            state.entries[key]?.metadata = new
            return true
        }
    }

    package func remove(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await run(.remove) { $0.entries.removeValue(forKey: key) != nil }
    }

    private func run<Value: Sendable>(
        _ call: Call, _ work: (inout State) -> Value
    ) async throws(WebImageError) -> Value {
        let (trouble, gate) = state.withLock { state in
            state.calls.append(call)
            return (state.trouble(call), state.gate)
        }
        switch trouble {
        case .none: break
        case .fails: throw Self.failure
        case .failsWith(let code): throw WebImageError(code, "the tier was told to fail")
        case .refuses: throw WebImageError(.bodyTooLarge, "the tier was told to refuse")
        case .failsAfterwards:
            _ = state.withLock { work(&$0) }
            throw Self.failure
        case .waits:
            await gate.opened()
            if Task.isCancelled { throw .cancelled }
        case .waitsStubbornly: await withCheckedContinuation { waiting in gate.whenOpen { waiting.resume() } }
        }
        return state.withLock { work(&$0) }
    }

    private static var failure: WebImageError { WebImageError(.cacheIO, "the tier was told to fail") }
}
