import Synchronization
package import WebImageCore
package import WebImageSystem

extension ByteLog {
    /// The state of a log at a reader's offset.
    package enum Step: Sendable {
        /// Bytes that begin exactly at the offset.
        case chunk(ByteChunk)
        /// There are no bytes yet; wait for them with ``ByteLog/whenReadable(after:run:)``.
        case wait
        case end(End)
    }

    /// A pending callback, which can be cancelled.
    package struct Interest: Sendable {
        private let log: ByteLog
        private let id: Int?

        fileprivate init(log: ByteLog, id: Int?) {
            self.log = log
            self.id = id
        }

        /// After this call `run` is not started; it may still be running.
        package func cancel() {
            guard let id else { return }
            log.state.withLock { $0.removeWaiter(id) }
        }
    }

    package var head: ResponseHead? { state.withLock { $0.head } }
    /// The length of the whole body, if it was announced.
    package var expectedLength: Int? { state.withLock { $0.expectedLength } }
    package var receivedCount: Int { state.withLock { $0.count } }
    package var end: End? { state.withLock { $0.end } }
    package var progress: (received: Int, expected: Int?) { state.withLock { ($0.count, $0.expectedLength) } }

    /// Returns the bytes from `offset` on that are contiguous. May read a file, so the thread must be allowed to block.
    ///
    /// - Parameter wanted: how many bytes to join in one chunk if they are available but not contiguous.
    package func read(at offset: Int, together wanted: Int = 0) -> Step {
        let (place, there, end) = state.withLock { ($0.place(of: offset), $0.count - offset, $0.end) }
        switch place {
        case .memory(let chunk):
            let count = min(wanted, there)
            return .chunk(chunk.count < count ? joined(chunk, count) : chunk)
        case .file(let file, let position, let count):
            let length = min(count, max(wanted, Self.fileReadSize))
            do throws(WebImageError) {
                return .chunk(try file.read(at: position, count: length, logOffset: offset))
            } catch {
                return .end(.failed(error))
            }
        case .nothing: return end.map { .end($0) } ?? .wait
        }
    }

    /// Joins `count` available bytes that begin with `first`. If a file cannot be read, returns only `first`; the next
    /// read then reports the error.
    private func joined(_ first: ByteChunk, _ count: Int) -> ByteChunk {
        let begin = first.range.lowerBound
        return (try? copied(begin..<begin + count)) ?? first
    }

    /// Copies available bytes into one chunk. May read a file.
    private func copied(_ range: Range<Int>) throws(WebImageError) -> ByteChunk {
        let storage = ByteStorage(capacity: range.count)
        try fill(UnsafeMutableRawBufferPointer(start: storage.base, count: range.count), from: range.lowerBound)
        return ByteChunk(storage: storage, start: 0, range: range)
    }

    /// Calls `run` once, without locks held, when there is a byte at `offset` or the log has ended: on the writer's
    /// thread, or at once on this thread. `run` must not block.
    @discardableResult
    package func whenReadable(after offset: Int, run: @escaping @Sendable () -> Void) -> Interest {
        wait(for: .byte(at: offset), run)
    }

    /// Like ``whenReadable(after:run:)``, for the head or the end, whichever comes first.
    @discardableResult
    package func whenHead(run: @escaping @Sendable () -> Void) -> Interest { wait(for: .head, run) }

    /// Like ``whenReadable(after:run:)``, for the end.
    @discardableResult
    package func whenEnded(run: @escaping @Sendable () -> Void) -> Interest { wait(for: .end, run) }

    private func wait(for condition: LogState.Waiter.Condition, _ run: @escaping @Sendable () -> Void) -> Interest {
        let id = state.withLock { state in state.isMet(condition) ? nil : state.wait(for: condition, run) }
        if id == nil { run() }
        return Interest(log: self, id: id)
    }

    /// All bytes that have arrived, in one chunk; not copied if they are contiguous, as those of a small body are. May
    /// read a file.
    ///
    /// - Throws: `cacheIO` if the temporary file cannot be read.
    package func contiguous() throws(WebImageError) -> ByteChunk {
        let count = receivedCount
        if case .memory(let whole) = state.withLock({ $0.place(of: 0) }), whole.count >= count { return whole }
        return try copied(0..<count)
    }

    /// Copies available bytes. May read a file.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int) throws(WebImageError) {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            switch state.withLock({ $0.place(of: start + filled) }) {
            case .memory(let chunk):
                let part = min(chunk.count, rest.count)
                chunk.withUnsafeBytes { rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<part])) }
                filled += part
            case .file(let file, let position, let count):
                let part = UnsafeMutableRawBufferPointer(rebasing: rest[..<min(count, rest.count)])
                filled += try file.read(at: position, into: part)
            case .nothing: preconditionFailure("a log lost bytes that it had")
            }
        }
    }

    /// Whether the published bytes from `offset` on equal `bytes`. May read a file.
    func matches(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard offset + bytes.count <= receivedCount else { return false }
        // Reads no more of the file than is compared, because this is the transport's thread.
        return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { known in
            guard (try? fill(known, from: offset)) != nil else { return false }
            return known.elementsEqual(bytes)
        }
    }

    /// The file that all bytes of a complete log came from; nil if there is none, or if all bytes are in memory.
    package var localFile: HeldFile? {
        state.withLock { state in
            guard case .complete? = state.end, let file = state.file, file.path != nil, file.files is PosixFileSystem
            else { return nil }
            return HeldFile(descriptor: file.descriptor, byteCount: state.count, holder: file)
        }
    }

    /// All bytes that have arrived, as a copy or, if they came as one array, that array. May read a file.
    package func collect() throws(WebImageError) -> [UInt8] {
        let count = receivedCount
        if case .memory(let chunk) = state.withLock({ $0.place(of: 0) }), let array = chunk.wholeArray,
            array.count == count
        {
            return array
        }
        // `Array`'s own initializer does not throw typed errors.
        var failure: WebImageError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(WebImageError) {
                try fill(
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]), from: 0)
                filled = count
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Waits for the end, including that of a log that replaces this one.
    package func ended() async -> End {
        let last = await withCheckedContinuation { continuation in
            whenSettled { continuation.resume(returning: $0) }
        }
        return last.end ?? .complete
    }

    /// Waits for the end and returns the whole body.
    ///
    /// - Throws: the error of the transfer; `cacheIO` if the temporary file cannot be read.
    package func allBytes() async throws(WebImageError) -> ByteChunk {
        if case .failed(let error) = await ended() { throw error }
        let log = latest
        guard let spill = log.spill, log.state.withLock({ $0.file != nil }) else { return try log.contiguous() }
        let result: Result<ByteChunk, WebImageError> = await withCheckedContinuation { continuation in
            spill.executor.run(.normal) {
                continuation.resume(
                    returning: Result { () throws(WebImageError) -> ByteChunk in try log.contiguous() })
            }
        }
        return try result.get()
    }
}
