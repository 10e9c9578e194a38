import Synchronization
package import WebImageCore
import WebImageSystem

/// Decodes an animation's frames for all its players, one frame at a time. It keeps the last frames, and decodes some
/// ahead. Any thread may use it.
///
/// Bytes may still arrive while frames are requested. Frames are decoded on the executor's threads.
package final class FrameBuffer: FrameSource {
    /// Converts a composited frame to the size, colours and orientation that the viewer needs.
    package typealias Finish = @Sendable (_ frame: PixelBuffer, _ index: Int) throws(WebImageError) -> Image

    /// Makes a decoder of the file; returns nil for a format without animations.
    package typealias MakeDecoder = @Sendable (DecodeOptions) throws(WebImageError) -> (any AnimationDecoder)?

    /// How many frames are decoded ahead of the requested one.
    private static let ahead = 3

    private struct State {
        var timeline = AnimationTimeline()
        var beginsWithStill = true
        var encodedByteCount: ByteCount = .zero
        var kept = KeptFrames()
        var work = FrameWork()
        /// Called when the number of kept bytes changes, until they return false. The same picture may be in several
        /// caches, and under several keys.
        var observers: [KeptBytesObserver: @Sendable () -> Bool] = [:]
        var positions = FramePositions()
    }

    package let frameSize: PixelSize
    private let frameLayout: PixelLayout
    private let state = Guarded(State())
    private let decoder: FrameDecoder
    private let finish: Finish
    private let needsFirst: @Sendable () -> Bool
    private let executor: any WorkExecutor
    private let budget: FrameBudget
    private let frameLimit: Int

    /// Returns nil if `makeDecoder` does.
    ///
    /// - Parameters:
    ///   - frameSize: the size of the frames that `finish` makes.
    ///   - frameLayout: their layout.
    ///   - frameLimit: frames beyond this number are left out, as if the file ended there. Nil: no limit.
    ///   - needsFirst: whether the first frame must be finished before any other, because it decides about them.
    ///   - options: its checkpoint is not used, because the frames outlive the load. `limits.time` is for each frame.
    package init?(
        frameSize: PixelSize, frameLayout: PixelLayout = .rgba8, frameLimit: Int? = nil, options: DecodeOptions,
        executor: any WorkExecutor,
        budget: FrameBudget = .shared,
        makeDecoder: @escaping MakeDecoder, needsFirst: @escaping @Sendable () -> Bool = { false },
        finish: @escaping Finish
    ) throws(WebImageError) {
        self.frameSize = frameSize
        self.frameLayout = frameLayout
        self.frameLimit = frameLimit ?? .max
        self.executor = executor
        self.budget = budget
        self.finish = finish
        self.needsFirst = needsFirst
        guard let decoder = try FrameDecoder(options, makeDecoder) else { return nil }
        self.decoder = decoder
        budget.add(self)
    }

    deinit { budget.remove(self) }

    // MARK: bytes

    /// Takes the file's next bytes. Waits while a frame is being decoded.
    ///
    /// - Throws: as ``AnimationDecoder/push(_:)``; frames that were found before stay valid.
    package func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        try update { (decoder) throws(WebImageError) in try decoder.push(bytes) }
    }

    /// Takes the whole file, like ``AnimationDecoder/push(file:)``. Waits while a frame is being decoded.
    ///
    /// - Throws: as ``push(_:)``.
    package func push(file: [UInt8]) throws(WebImageError) {
        try update { (decoder) throws(WebImageError) in try decoder.push(file: file) }
    }

    /// Ends the input.
    ///
    /// - Throws: as ``AnimationDecoder/finish()``.
    package func finishBytes() throws(WebImageError) {
        defer { endBytes() }
        try update { (decoder) throws(WebImageError) in try decoder.finish() }
    }

    /// Notes that no more bytes come: the frames so far are all that there are. For a file whose load has failed.
    package func endBytes() { state.withLock { $0.timeline.isComplete = true } }

    private func update(
        _ change: (any AnimationDecoder) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        if isCut { return }
        var failure: WebImageError?
        let (delays, loopCount, count, beginsWithStill) = withDecoder { decoder in
            do throws(WebImageError) { try change(decoder) } catch { failure = error }
            return (
                decoder.storedDelays, decoder.header?.loopCount, decoder.encodedByteCount, decoder.beginsWithStill
            )
        }
        state.withLock { state in
            state.beginsWithStill = beginsWithStill
            let known = state.timeline.delays.count
            state.timeline.delays.append(contentsOf: delays.prefix(frameLimit).dropFirst(known).map(Self.shown))
            state.timeline.loopCount = loopCount
            state.encodedByteCount = ByteCount(count)
        }
        guard let failure else { return }
        // The decoder's own limit may be the number of wanted frames: exceeding it is no error then.
        if failure.code != .limitExceeded || !isCut { throw failure }
    }

    /// Whether all wanted frames have been found.
    private var isCut: Bool { state.withLock { $0.timeline.delays.count >= frameLimit } }

    private static func shown(_ stored: Duration) -> Duration {
        stored < .shortestShown ? .milliseconds(100) : stored
    }

    // MARK: what is known

    package var timeline: AnimationTimeline { state.withLock { $0.timeline } }
    package var encodedByteCount: ByteCount { state.withLock { $0.encodedByteCount } }
    package var frameByteCount: ByteCount {
        ByteCount(max(frameSize.pixelCount ?? .max, 1) * frameLayout.bytesPerPixel)
    }

    package var keptByteCount: ByteCount { ByteCount(keptBytes + decoder.keptBytes) }

    package func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool) {
        state.withLock { $0.observers[observer] = action }
    }

    /// Notifies budget and observers; called without locks.
    private func keptBytesChanged(by change: Int) {
        budget.changed(self, by: change)
        if change != 0 { tellObservers() }
    }

    private func tellObservers() {
        for (observer, action) in state.withLock({ $0.observers }) where !action() {
            state.withLock { $0.observers[observer] = nil }
        }
    }

    package var bufferLimit: ByteCount {
        get { state.withLock { $0.kept.limit } }
        set {
            let freed = state.withLock { $0.kept.setLimit(newValue) }
            keptBytesChanged(by: -freed)
        }
    }

    package func removeKeptFrames() { budget.changed(self, by: -giveUpFrames(keepingPlace: false)) }

    // MARK: frames

    package func keptFrame(at index: Int) -> Image? {
        let frame = state.withLock { $0.kept.take(index) }
        if frame != nil { budget.lookedAt(self) }
        return frame
    }

    /// Keeps a frame.
    ///
    /// - Parameter isShared: whether somebody else keeps its pixels in any case, so that they are not counted here.
    package func keep(_ image: Image, at index: Int, isShared: Bool = false) {
        let grown = state.withLock { $0.kept.insert(image, index, isShared: isShared) }
        keptBytesChanged(by: grown)
    }

    package func frame(at index: Int, for viewer: AnimationViewer?) async throws(WebImageError) -> Image {
        let count = state.withLock { $0.timeline.delays.count }
        guard (0..<count).contains(index) else {
            throw WebImageError(.unsupportedFeature, "the animation has no frame \(index), but \(count) from 0 on")
        }
        let answer = CancellableAnswer<Image>()
        let (kept, mustStart) = state.withLock { state -> (Image?, Bool) in
            let kept = state.kept.take(index)
            if kept == nil { state.work.add(answer, index) }
            askAhead(of: index, for: viewer, &state)
            return (kept, state.work.start())
        }
        if mustStart { startWork() }
        if let kept {
            budget.lookedAt(self)
            return kept
        }
        // Work that waits for a thread may have been for frames ahead.
        if !mustStart { executor.setPriority(.high, of: self) }
        return try await answer.value()
    }

    package func prepare(_ index: Int, for viewer: AnimationViewer) {
        let mustStart = state.withLock { state in
            guard state.timeline.delays.indices.contains(index) else { return false }
            askAhead(of: index, for: viewer, isWanted: !state.kept.has(index), &state)
            return state.work.start()
        }
        if mustStart { startWork() }
    }

    package func add(_ viewer: AnimationViewer) {
        let isFirst = state.withLock { state in
            defer { state.positions.add(viewer) }
            return !state.positions.hasViewers
        }
        if isFirst { budget.note(self, isWatched: true) }
    }

    package func remove(_ viewer: AnimationViewer, freeing: Bool) {
        let isLast = state.withLock { state in
            state.positions.remove(viewer)
            // Frames that are decoded ahead would be for nobody. Those that callers wait for are still decoded.
            if !state.positions.hasViewers { state.work.setAhead([]) }
            return !state.positions.hasViewers
        }
        guard isLast else { return }
        budget.note(self, isWatched: false)
        if freeing { removeKeptFrames() }
    }

    package func decodeNow(_ index: Int) throws(WebImageError) { _ = try decode(index) }

    /// Decodes the first frames in order, and none ahead, because there is room only for these.
    package func preload(_ count: Int) async throws(WebImageError) {
        for index in 0..<count {
            try await executor.answer(.normal) { () throws(WebImageError) in try self.decodeNow(index) }
        }
    }

    /// Requests the frames after `index` or, when playing backwards, those before it; likewise for other viewers.
    ///
    /// - Parameter isWanted: whether that frame is requested, too.
    private func askAhead(of index: Int, for viewer: AnimationViewer?, isWanted: Bool = false, _ state: inout State) {
        let count = state.timeline.delays.count
        state.positions.note(index, of: count, for: viewer, isWanted: isWanted)
        let wishes = state.positions.wishes(
            of: count, most: Self.ahead, room: state.kept.room(of: frameByteCount.bytes))
        state.work.setAhead(wishes.filter { !state.kept.has($0) })
    }

    /// Decodes the next frame on a thread of the executor. Each frame is a piece of work of its own: an animation that
    /// is decoded more slowly than it plays would otherwise never leave the thread to other pictures.
    private func startWork() {
        let isAwaited = state.withLock { $0.work.isAwaited }
        executor.run(isAwaited ? .high : .normal, for: self) { [weak self] in self?.work() }
    }

    private func work() {
        guard let next = state.withLock({ $0.work.next() }) else { return }
        var result = Result<Image, WebImageError>.failure(.cancelled)
        do throws(WebImageError) {
            result = .success(try decode(next))
        } catch {
            result = .failure(error)
        }
        for answer in state.withLock({ $0.work.takeAnswers(next) }) { answer.give(result) }
        if state.withLock({ $0.work.goesOn() }) { startWork() }
    }

    /// Decodes a frame, and keeps it and the frames that were decoded on the way.
    private func decode(_ index: Int) throws(WebImageError) -> Image {
        if let kept = state.withLock({ $0.kept.peek(index) }) { return kept }
        let (first, room) = (
            withDecoder { $0.firstFrameNeeded(for: index) },
            state.withLock { $0.kept.room(of: frameByteCount.bytes) }
        )
        // When playing backwards, these frames are requested next, and each would cost as much again.
        let isBackwards = state.withLock { state in
            state.positions.areBackwards(at: index, of: state.timeline.delays.count, most: Self.ahead)
        }
        if isBackwards {
            for before in max(first, index - room + 1)..<index where state.withLock({ !$0.kept.has(before) }) {
                keep(try decoded(before), at: before)
            }
        }
        let image = try decoded(index)
        keep(image, at: index)
        return image
    }

    private func decoded(_ index: Int) throws(WebImageError) -> Image {
        if index > 0, needsFirst() { _ = try decoded(0) }
        var result = Result<PixelBuffer, WebImageError>.failure(.cancelled)
        withDecoder { decoder in
            do throws(WebImageError) { result = .success(try decoder.frame(at: index)) } catch {
                result = .failure(error)
            }
        }
        return try finish(try result.get(), index)
    }

    /// See ``AnimationDecoder/beginsWithStill``.
    package var beginsWithStill: Bool { state.withLock { $0.beginsWithStill } }

    /// Decodes the first frame on this thread if it is not the picture that a decoder of stills finds; otherwise nil.
    package func firstFrameBesideStill() throws(WebImageError) -> Image? {
        guard !beginsWithStill, !timeline.delays.isEmpty else { return nil }
        return try decode(0)
    }

    package func forEachFrame(
        _ body: (Image, Duration) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        // Uses the existing decoder: another one would need the encoded bytes again.
        let delays = withDecoder { $0.storedDelays.prefix(frameLimit) }
        for (index, delay) in delays.enumerated() { try body(try decoded(index), delay) }
    }

    /// The bytes that are kept now.
    var keptBytes: Int { state.withLock { $0.kept.bytes } }

    /// Releases what can be decoded again, to free memory for others. If a frame is being decoded, the decoder's memory
    /// is released afterwards, without waiting here.
    ///
    /// - Parameter keepingPlace: whether the decoder keeps what it needs for the next frame.
    /// - Returns: how many bytes were released at once.
    func giveUpFrames(keepingPlace: Bool) -> Int {
        let freed = state.withLock { $0.kept.removeAll() } + decoder.release(keepingPlace: keepingPlace)
        if freed != 0 { tellObservers() }
        return freed
    }

    /// Runs `body` with exclusive use of the decoder. May wait for another user.
    private func withDecoder<Result>(_ body: (any AnimationDecoder) -> Result) -> Result {
        let (result, growth) = decoder.use(body)
        keptBytesChanged(by: growth)
        return result
    }
}
