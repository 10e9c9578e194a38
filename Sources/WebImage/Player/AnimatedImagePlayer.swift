public import WebImageCore

/// Plays an animated picture: it reports the current frame, has the next ones decoded off the main actor, and shares
/// decoded frames with all players of the same picture.
///
///     let player = AnimatedImagePlayer(image)
///     player?.onFrame = { image, _ in view.image = image }
///     player?.play()
///
/// Each frame is shown for as long as the file says, counted from when it was due and not from when it was drawn, so
/// that an animation keeps its pace. If a frame is not decoded in time, the player waits for it; see
/// ``dropsLateFrames``. The player is isolated to the main actor; keep it for as long as it should play.
@MainActor public final class AnimatedImagePlayer {
    /// The current frame.
    public private(set) var currentFrame: Image
    /// The index of the frame that is shown, or that the player waits for, from 0 on.
    public var currentIndex: Int { playback.index }
    /// The number of completed rounds.
    public var currentLoop: Int { playback.round }
    /// The index of ``currentFrame``.
    private var shownIndex = 0
    public private(set) var animation: ImageAnimation
    /// Whether the player plays, or would if it were visible.
    public private(set) var isPlaying = false
    /// Why a frame could not be decoded. The player has then stopped at the frame before.
    public private(set) var error: WebImageError?

    /// Called with each new frame when it is due. It is not called for the frame at which playing begins: draw
    /// ``currentFrame`` first. There is one exception: if that is the default image of an APNG and not one of its
    /// frames, the first frame follows at once. It is also called with the current frame in a new size, when the target
    /// has loaded the animation in that size.
    public var onFrame: (@MainActor (_ image: Image, _ index: Int) -> Void)?
    /// Called after each round with the number of completed rounds.
    public var onLoop: (@MainActor (_ loop: Int) -> Void)?
    /// Called when the last frame of the last round was reached, or a frame was damaged.
    public var onEnd: (@MainActor () -> Void)?

    /// The order in which frames are shown. Default ``PlaybackMode/forward``. A player that has not begun moves to the
    /// first frame of the new mode.
    public var mode: PlaybackMode {
        get { playback.mode }
        set {
            playback.mode = newValue
            reset()
            if isRunning, awaited == nil { schedule() }
        }
    }
    /// How often all frames are shown; 0: without end. Default nil: the number in the file.
    public var loopLimit: Int? { didSet { playback.roundLimit = Self.limit(loopLimit, animation) } }
    /// The speed: 2 shows each frame for half of its time. Default 1. If it is 0, negative or not finite, the animation
    /// stands still. Other speeds are limited to the range from 0.001 to 1000.
    public var rate: Double = 1 {
        didSet {
            rate = rate.isFinite && rate > 0 ? min(max(rate, 0.001), 1000) : 0
            guard rate != oldValue else { return }
            // The rest of the current frame's time is kept in the animation's own time, at the speed 1.
            if isRunning { rest = remainingTime(at: oldValue) }
            guard isRunning, rate > 0 else { return runOrRest() }
            continuePlaying()
        }
    }
    /// Whether frames that would be late are skipped, so that the animation keeps its pace. If false (the default), the
    /// animation becomes slower, and every frame is shown.
    public var dropsLateFrames = false
    /// Whether ``stop()`` goes back to the first frame. Default false.
    public var resetsWhenStopped = false
    /// Whether decoded frames are released when the player is stopped, unless another player shows them. Default false.
    public var freesWhenStopped = false
    /// Whether decoded frames are released while the player is not visible, unless another player shows them. Default
    /// true.
    public var freesWhenHidden = true { didSet { if freesWhenHidden != oldValue { countViewer() } } }
    /// Whether the animation is visible. While it is not, its time stands still. Default true.
    public var isVisible = true { didSet { if isVisible != oldValue { visibilityChanged() } } }

    private let clock: any FrameClock
    private var playback: Playback
    /// When the current frame will have been shown for its time.
    private var deadline = Duration.zero
    /// How much of the current frame's time is left while the animation does not run, at the speed 1.
    private var rest: Duration
    private var wake: FrameWake?
    /// Whether the frame that is due is in a part of the file that has not arrived yet.
    private var isStarving = false
    private var isRunning = false
    private var hasBegun = false
    /// The wait for a frame that is not decoded yet.
    private var awaited: Task<Void, Never>?
    /// Where playback was before the awaited frame became due; nil if nothing is awaited, or a sought frame.
    private var leftBehind: Playback?
    /// The wait for the current frame in another size.
    private var replacing: Task<Void, Never>?
    private var presence: AnimationPresence

    /// Whether the frame that is due is shown; false while the player waits until it is decoded. For tests.
    var isSettled: Bool { awaited == nil }

    /// Makes a player; the result is nil if the picture is not an animation. It does not play before ``play()``.
    ///
    /// - Parameters:
    ///   - image: the animation, whose first frame is already shown.
    ///   - clock: the clock that drives the player. Default nil: a ``SystemFrameClock``.
    public convenience init?(_ image: Image, clock: (any FrameClock)? = nil) {
        self.init(image, clock: clock, isVisible: true)
    }

    /// - Parameter isVisible: see ``isVisible``. Frames that were decoded before stay if it is false from the beginning.
    package init?(_ image: Image, clock: (any FrameClock)?, isVisible: Bool) {
        guard let animation = image.animation, animation.frameCount > 1 || !animation.isComplete else { return nil }
        self.animation = animation
        self.clock = clock ?? SystemFrameClock()
        currentFrame = image
        playback = Playback(
            count: animation.frameCount, isComplete: animation.isComplete, roundLimit: Self.limit(nil, animation))
        rest = animation.delays.first ?? .zero
        self.isVisible = isVisible
        presence = AnimationPresence(animation, isPresent: isVisible)
    }

    isolated deinit {
        wake?.cancel()
        awaited?.cancel()
        replacing?.cancel()
    }

    // MARK: - Playing

    /// Plays from the current frame on. After the end it starts from the beginning.
    public func play() {
        guard !isPlaying else { return }
        if hasEnded { restart() }
        if !hasBegun {
            reset()
            if playback.index == 0, !animation.beginsWithStill { showPresent() }
        }
        hasBegun = true
        isPlaying = true
        error = nil
        runOrRest()
    }

    /// Pauses at the current frame. A frame that is due but not decoded yet is shown only after ``play()``; a frame that
    /// was sought (``seek(to:loop:)``) is shown even so.
    public func pause() {
        isPlaying = false
        if let leftBehind {
            stopWaiting()
            playback.goBack(to: leftBehind)
            if replacing != nil { replaceCurrentFrame() }
        }
        runOrRest()
    }

    /// Stops playing, and resets or releases frames as ``resetsWhenStopped`` and ``freesWhenStopped`` say.
    public func stop() {
        pause()
        if resetsWhenStopped {
            seek(to: playback.start, loop: 0)
            hasBegun = false
        }
        if freesWhenStopped {
            presence.leave()
            countViewer()
        }
    }

    /// Goes to a frame, and shows it as soon as it is decoded, also while the player does not play.
    ///
    /// - Parameters:
    ///   - index: the frame; an index out of range counts as the nearest one.
    ///   - loop: the number of rounds that count as completed; nil: no change.
    public func seek(to index: Int, loop: Int? = nil) {
        hasBegun = true
        playback.seek(to: index, round: loop)
        showPresent()
    }

    /// Takes over a newer state of the picture, with more frames, or with all of them when the file has arrived. The
    /// current frame stays, and playing continues from there.
    public func update(_ image: Image) {
        guard let newer = image.animation, newer.frameCount >= playback.count else { return }
        animation = newer
        if !presence.isFor(newer) { presence = AnimationPresence(newer, isPresent: isViewer) }
        learn()
        guard isRunning, awaited == nil, wake == nil || isStarving else { return }
        if isStarving, case .frame = playback.next { deadline = clock.now }
        schedule()
    }

    /// Takes over the same animation in another size. Playing continues, and the current frame is shown in that size as soon
    /// as it is decoded.
    ///
    /// - Returns: false, without any change, if the picture is another animation, or more frames of one may still arrive.
    package func replaceFrames(with image: Image) -> Bool {
        guard let other = image.animation, other.isComplete, animation.isComplete, other.frameCount == playback.count
        else { return false }
        animation = other
        presence = AnimationPresence(other, isPresent: isViewer)
        learn()
        if isRunning, awaited == nil { schedule() }
        replaceCurrentFrame(first: image)
        return true
    }

    /// Shows the current frame of ``animation`` as soon as it is decoded, because it has another size than the shown
    /// one.
    ///
    /// - Parameter first: the picture of the animation, which is usually its first frame.
    private func replaceCurrentFrame(first: Image? = nil) {
        let (presence, index) = (presence, playback.index)
        let ready = index == 0 && animation.beginsWithStill ? first : nil
        replacing?.cancel()
        replacing = Task { [weak self, awaited] in
            var frame = ready
            if frame == nil { frame = try? await presence.frame(at: index) }
            // If the player waits for a frame of the old size, that frame comes first, so that it does not replace this
            // one.
            await awaited?.value
            guard !Task.isCancelled else { return }
            self?.replaceCurrent(with: frame, index)
        }
    }

    private func replaceCurrent(with frame: Image?, _ index: Int) {
        replacing = nil
        guard let frame, index == playback.index, awaited == nil else { return }
        currentFrame = frame
        onFrame?(frame, index)
    }

    private var hasEnded: Bool {
        if playback.isOver || error != nil { return hasBegun }
        return hasBegun && playback.next == .end
    }

    private func restart() {
        playback.seek(to: playback.start, round: 0)
        showPresent()
    }

    /// Moves to the first frame of the mode, if playing has not begun.
    private func reset() {
        guard !hasBegun, playback.index != playback.start else { return }
        playback.seek(to: playback.start)
        showPresent()
    }

    // MARK: - Running and resting

    private func runOrRest() {
        let runs = isPlaying && isVisible && rate > 0
        guard runs != isRunning else { return }
        isRunning = runs
        if runs {
            continuePlaying()
        } else {
            // If the rate has just become 0, its observer has already set the rest.
            if rate > 0 { rest = remainingTime(at: rate) }
            wake?.cancel()
            wake = nil
        }
    }

    /// Shows the current frame for the rest of its time.
    private func continuePlaying() {
        deadline = clock.now + rest / rate
        if awaited == nil { schedule() }
    }

    /// How much of the current frame's time is left, at the speed 1.
    private func remainingTime(at rate: Double) -> Duration { max(deadline - clock.now, .zero) * rate }

    private func visibilityChanged() {
        runOrRest()
        countViewer()
    }

    /// Whether the player counts as a viewer of the animation, whose decoded frames are then kept.
    private var isViewer: Bool { isVisible || !freesWhenHidden }

    private func countViewer() { isViewer ? presence.enter() : presence.leave() }

    // MARK: - Frames

    private func learn() {
        playback.count = animation.frameCount
        playback.isComplete = animation.isComplete
        playback.roundLimit = Self.limit(loopLimit, animation)
    }

    private static func limit(_ given: Int?, _ animation: ImageAnimation) -> Int {
        max(given ?? animation.loopCount ?? 1, 0)
    }

    private func time(of index: Int) -> Duration {
        let delays = animation.delays
        let delay = delays.indices.contains(index) ? delays[index] : .milliseconds(100)
        return rate > 0 ? delay / rate : delay
    }

    /// Waits until the current frame has been shown for its time, and has the next one decoded meanwhile.
    private func schedule() {
        wake?.cancel()
        wake = nil
        guard isRunning else { return }
        learn()
        if case .frame(let next, _) = playback.next { presence.prepare(next) }
        wake = clock.wake(at: deadline) { [weak self] in self?.frameIsOver() }
    }

    private func frameIsOver() {
        wake = nil
        guard isRunning else { return }
        learn()
        let before = playback
        switch playback.next {
        case .end:
            if playback.completeRound() { onLoop?(playback.round) }
            // The closure may have sought another frame, or allowed more rounds.
            guard playback.next == .end else {
                if isRunning, awaited == nil { schedule() }
                return
            }
            return end()
        case .notThereYet:
            // Checks again after the current frame's time; a call of `update` continues sooner.
            isStarving = true
            deadline = clock.now + time(of: playback.index)
            return schedule()
        case .frame: break
        }
        isStarving = false
        var due = deadline
        _ = playback.advance()
        while dropsLateFrames, !playback.isOver, due + time(of: playback.index) <= clock.now,
            case .frame = playback.next
        {
            due += time(of: playback.index)
            _ = playback.advance()
        }
        let rounds = before.round..<playback.round
        showPresent(due: due, from: before) { [weak self] in
            for round in rounds { self?.onLoop?(round + 1) }
        }
    }

    /// Shows the frame that playback has reached, as soon as it is decoded.
    ///
    /// - Parameters:
    ///   - due: when it should be shown; nil: now.
    ///   - before: where playback was before; nil if the frame was sought.
    ///   - action: called when the frame is shown.
    private func showPresent(
        due: Duration? = nil, from before: Playback? = nil, then action: @escaping @MainActor () -> Void = {}
    ) {
        // If the player still waits for an earlier frame, that frame would replace this one.
        stopWaiting()
        let index = playback.index
        if let frame = animation.keptFrame(at: index) { return show(frame, index, due: due, then: action) }
        let presence = presence
        leftBehind = before
        awaited = Task { [weak self] in
            let result: Result<Image, WebImageError>
            do throws(WebImageError) {
                result = .success(try await presence.frame(at: index))
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            self?.arrived(result, index, due: due, then: action)
        }
    }

    private func arrived(
        _ result: Result<Image, WebImageError>, _ index: Int, due: Duration?, then action: @MainActor () -> Void
    ) {
        awaited = nil
        leftBehind = nil
        switch result {
        // The time of the wait does not count, unless late frames are dropped to keep the pace.
        case .success(let frame): show(frame, index, due: dropsLateFrames ? due : nil, then: action)
        case .failure(let error):
            self.error = error
            // The player stays at the frame that is shown.
            playback.seek(to: shownIndex)
            end()
        }
    }

    private func show(_ frame: Image, _ index: Int, due: Duration?, then action: @MainActor () -> Void) {
        currentFrame = frame
        shownIndex = index
        let begin = due ?? clock.now
        deadline = begin + time(of: index)
        // If the frame is so late that its time is over, the next ones still follow one by one, and not all at once.
        if !dropsLateFrames { deadline = max(deadline, clock.now) }
        rest = rate > 0 ? remainingTime(at: rate) : time(of: index)
        onFrame?(frame, index)
        action()
        // A bounce that has ended may be sought without being played.
        if isPlaying, playback.isOver { return end() }
        // One of the closures may have called `seek`, so that the player waits for another frame.
        if isRunning, awaited == nil { schedule() }
    }

    private func stopWaiting() {
        awaited?.cancel()
        awaited = nil
        leftBehind = nil
        wake?.cancel()
        wake = nil
        isStarving = false
    }

    private func end() {
        isPlaying = false
        runOrRest()
        onEnd?()
    }
}
