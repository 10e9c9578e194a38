public import Logging
import NIOCore
public import S3Client
import ServerGrammar
import Synchronization

/// Results in a storage that all servers of a fleet share. If a result cannot be read or written, it is made anew;
/// requests do not fail.
///
/// An object holds the picture as it is sent, with its media type; the other properties are in `x-amz-meta-wi-about`.
/// The server does not remove objects: a lifecycle rule of the bucket does.
public final class SharedResults: Sendable {
    /// Counts since the server was started.
    public struct Statistics: Hashable, Sendable {
        public var hits = 0
        public var misses = 0
        public var writes = 0
        /// Results that were not written because too many bytes were waiting.
        public var skips = 0
    }

    private struct State {
        var statistics = Statistics()
        var unwrittenBytes = 0
        /// Results that were not written because the server stops.
        var abandoned = 0
        var lastWrite = 0
        /// The running writes.
        var writes: [Int: Task<Void, Never>] = [:]
        /// Writes that wait for others, by their numbers, and the number from which on to look for the first.
        var waiting: [Int: (result: StoredResult, key: String)] = [:]
        var nextWrite = 1

        mutating func takeNext() -> (number: Int, result: StoredResult, key: String)? {
            while nextWrite <= lastWrite {
                defer { nextWrite += 1 }
                if let (result, key) = waiting.removeValue(forKey: nextWrite) { return (nextWrite, result, key) }
            }
            return nil
        }

        mutating func abandonWaiting() {
            abandoned += waiting.count
            unwrittenBytes -= waiting.values.reduce(0) { $0 + $1.result.cost }
            waiting = [:]
        }
    }

    /// How long to wait for the storage before the picture is made.
    static let patience = Duration.milliseconds(200)
    /// The length in bytes above which results are not written to the storage.
    static let longest = 8 << 20
    private static let aboutName = "wi-about"
    /// The length of the metadata that S3 stores with an object, including its name. A picture with more tags is not
    /// shared.
    private static let longestAbout = 2048

    public let client: S3Client
    private let maxUnwritten: Int
    private let state = Mutex(State())
    private let logger: Logger
    private let warnings: RepeatedWarnings

    /// - Parameter maxUnwritten: how many bytes may wait to be written; further results are not stored. Default 64
    ///   MiB.
    public init(_ client: S3Client, maxUnwritten: Int = 64 << 20, logger: Logger) {
        self.client = client
        self.maxUnwritten = maxUnwritten
        self.logger = logger
        warnings = RepeatedWarnings(logger)
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// The name varies near its start, because storages partition objects by the prefixes of their names.
    private func name(_ key: String) -> String { "results-1/\(key.prefix(2))/\(key)" }

    func result(_ key: String) async -> StoredResult? {
        // The read is not cancelled with the caller: otherwise a storage that does not answer in time would go
        // unnoticed and be tried again and again.
        let answer = Task { [client, name = name(key)] in
            do throws(S3Error) {
                return Result<S3Object?, S3Error>.success(try await client.get(name))
            } catch {
                return .failure(error)
            }
        }
        do throws(S3Error) {
            let found = try await answer.value.get().flatMap { Self.result($0) }
            state.withLock { if found == nil { $0.statistics.misses += 1 } else { $0.statistics.hits += 1 } }
            return found
        } catch {
            tell("a result cannot be read from S3", error)
            return nil
        }
    }

    /// - Returns: nil if another version of this server wrote the object, or its content is damaged.
    private static func result(_ object: S3Object) -> StoredResult? {
        guard let about = object.metadata[aboutName].flatMap({ Base64URL.decode($0) }) else { return nil }
        let bytes = Array(object.body.readableBytesView)
        guard let result = StoredResult(bytes, description: about), result.isWhole else { return nil }
        return result
    }

    /// Writes a result in the background.
    func keep(_ result: StoredResult, _ key: String) {
        guard result.bytes.count <= Self.longest, client.isAvailable else { return }
        state.withLock { state in
            guard state.unwrittenBytes + result.cost <= maxUnwritten else {
                state.statistics.skips += 1
                return
            }
            state.unwrittenBytes += result.cost
            state.lastWrite += 1
            state.waiting[state.lastWrite] = (result, key)
            startWrites(&state)
        }
    }

    /// Starts as many writes as the client sends at a time. More would take the places of reads.
    private func startWrites(_ state: inout State) {
        while state.writes.count < client.maxWrites, let (number, result, key) = state.takeNext() {
            state.writes[number] = Task { [self] in
                await write(result, key)
                self.state.withLock { state in
                    state.unwrittenBytes -= result.cost
                    state.writes[number] = nil
                    startWrites(&state)
                }
            }
        }
    }

    private func write(_ result: StoredResult, _ key: String) async {
        let about = Base64URL.encode(result.description)
        guard Self.aboutName.utf8.count + about.utf8.count <= Self.longestAbout else {
            return state.withLock { $0.statistics.skips += 1 }
        }
        do throws(S3Error) {
            try await client.put(
                name(key), ByteBuffer(bytes: result.bytes), metadata: [(Self.aboutName, about)],
                contentType: result.mediaType)
            state.withLock { $0.statistics.writes += 1 }
        } catch {
            if error == .cancelled { state.withLock { $0.abandoned += 1 } }
            tell("a result cannot be written to S3", error)
        }
    }

    /// Logs a failure, unless the storage keeps failing, which its client reports.
    private func tell(_ text: String, _ error: S3Error) {
        let kind: String
        switch error {
        case .cancelled, .closed, .circuitOpen: return
        // The message is left out, because it differs from one request to the next.
        case .refused(let status, let code, _), .redirected(let status, let code, _, _),
            .unavailable(let status, let code):
            kind = "\(status) \(code)"
        default: kind = "\(error)"
        }
        warnings.warn("\(text) \(kind)", "\(text): \(error)")
    }

    /// Returns when everything that was stored before is written, or could not be.
    ///
    /// - Parameter limit: the time after which unwritten results are abandoned; nil: none are.
    public func flush(within limit: Duration? = nil) async {
        let last = state.withLock { $0.lastWrite }
        let timer = limit.map { limit in
            Task {
                // The timer is cancelled when everything is written.
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                let tasks = state.withLock { state in
                    state.abandonWaiting()
                    return state.writes.values
                }
                for task in tasks { task.cancel() }
            }
        }
        // The writes that still wait begin when these end.
        while let task = state.withLock({ $0.writes.first { $0.key <= last }?.value }) { await task.value }
        timer?.cancel()
        let abandoned = state.withLock { state in
            defer { state.abandoned = 0 }
            return state.abandoned
        }
        guard abandoned > 0 else { return }
        logger.warning("results were not written to S3, because the server stops", metadata: ["count": "\(abandoned)"])
    }
}
