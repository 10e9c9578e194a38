import WebImageCore

/// The logic of one slot, as a value: its functions receive calls and events of loads, and return the actions to carry
/// out. It knows no target, no thread and no clock.
///
/// Each call of the slot's owner has a number, its generation. Each load has a number of its own, since a call may need
/// several loads: one for a larger picture when the target grows, or another try when the network is back. Only the
/// events of the call's current load are shown.
struct SlotMachine {
    private(set) var state = SlotState()
    private(set) var generation = 0
    private var lastLoad = 0
    private var call: Call?
    /// The options of the last call, with which ``clear()`` shows nothing.
    private var lastOptions = SlotOptions()
    /// The loads that go on without being shown, and their calls.
    private var detached: [Int: Int] = [:]
    private var isVisible = true
    /// The size in pixels; nil until it is known. A side of 0 follows from the other one.
    private var targetSize: PixelSize?

    init(targetSize: PixelSize?, isVisible: Bool) {
        self.targetSize = targetSize
        self.isVisible = isVisible
    }

    // MARK: - From the owner

    /// Begins a call. Its number is then ``generation``, which does not change if it joins the current call.
    ///
    /// - Parameter isRetry: whether a URL that is blocked after a failure is loaded, too.
    mutating func begin(_ request: ImageRequest?, _ options: SlotOptions, isRetry: Bool = false) -> [Action] {
        let loaded = isRetry ? request?.retrying : request
        // A retry joins only another retry. Any other call joins a call with the same request, however it is loaded.
        let isEqual = isRetry ? call?.request == loaded : call?.given == request
        // A retry repeats a load that has ended.
        let isRepeated = isRetry && call?.result != nil
        if isEqual, request != nil, !isRepeated, let joined = join(options) { return joined }
        var actions = leave(detaching: !options.cancelsPrevious)
        generation += 1
        state = SlotState()
        lastOptions = options
        guard let request, let loaded else {
            let error = WebImageError(.invalidURL, "there is no URL to load")
            state.phase = .failed(error)
            if !options.keepsCurrentImage {
                actions.append(.show(call: generation, options.placeholder, .placeholder, options))
            }
            return actions + [.tell(call: generation), .answer(call: generation, .failure(error))]
        }
        state.request = request
        call = Call(given: request, request: loaded, options: options)
        // The answer of the call before this one may run code that changes size or visibility.
        return actions.isEmpty ? start() : actions + [.proceed(call: generation)]
    }

    /// Starts the load of a call that has just begun.
    mutating func proceed(_ number: Int) -> [Action] {
        guard number == generation, call != nil, case .empty = state.phase else { return [] }
        return start()
    }

    /// Joins the current call, which is for the same request; nil if that is not possible.
    private mutating func join(_ options: SlotOptions) -> [Action]? {
        // A picture that could not be checked is asked for again.
        guard options.keepsEqualLoad, let call, call.checkError == nil else { return nil }
        switch (state.phase, call.result) {
        case (.loaded, .success(let response)?) where !call.awaitsTransition:
            return [.answer(call: generation, .success(response))]
        // An empty phase is that of a call which is just beginning.
        case (.loaded, _), (.loading, _), (.paused, _), (.waitingForSize, _), (.empty, _): return []
        default: return nil
        }
    }

    /// Cancels the load; the slot keeps showing its current picture.
    mutating func cancel() -> [Action] {
        guard let call else { return [] }
        let wasUnderWay = call.result == nil || call.isRunning
        let actions = leave(detaching: false)
        if wasUnderWay, call.result == nil { state.phase = .cancelled }
        generation += 1
        return actions + [.tell(call: generation)]
    }

    /// Cancels all loads, also those that continue without being shown, because the target no longer exists.
    mutating func abandon() -> [Action] {
        let others = detached.sorted { $0.key < $1.key }
        detached = [:]
        return cancel()
            + others.flatMap { load, number -> [Action] in
                [.stop(load: load), .answer(call: number, .failure(.cancelled))]
            }
    }

    /// Ends the load, and shows nothing.
    mutating func clear() -> [Action] {
        let actions = leave(detaching: false)
        generation += 1
        state = SlotState()
        return actions + [.show(call: generation, nil, .placeholder, lastOptions), .tell(call: generation)]
    }

    mutating func resize(to size: PixelSize?) -> [Action] {
        targetSize = size
        guard call != nil else { return [] }
        if case .waitingForSize = state.phase { return start() }
        return grow()
    }

    mutating func setVisible(_ isVisible: Bool) -> [Action] {
        guard isVisible != self.isVisible else { return [] }
        self.isVisible = isVisible
        guard let call else { return [] }
        if isVisible {
            if case .paused = state.phase { return start() }
            guard let load = call.load else {
                // If a larger picture could not be loaded, it is tried again.
                if call.hasPicture { self.call?.askedSize = call.shownSize }
                return grow()
            }
            guard call.isDemoted else { return [] }
            self.call?.isDemoted = false
            return [.setPriority(load: load, call.request.priority)]
        }
        guard let load = call.load else { return [] }
        switch call.options.whenHidden {
        case .unchanged: return []
        case .demoted:
            self.call?.isDemoted = true
            return [.setPriority(load: load, .veryLow)]
        case .paused:
            self.call?.load = nil
            var actions: [Action] = [.stop(load: load)] + stopIndicator()
            // If the load was only for a larger picture, it is repeated when the target is visible again.
            if call.hasPicture {
                self.call?.askedSize = call.shownSize
            } else {
                state.phase = .paused
                actions.append(.tell(call: generation))
            }
            return actions
        }
    }

    /// Looks up in memory the picture of a load that waits until the target is visible.
    mutating func lookInMemory() -> [Action] {
        guard case .paused = state.phase, !isVisible, call?.isRunning == false else { return [] }
        return start()
    }

    /// Repeats a load that failed without a network, which is now back.
    mutating func connected() -> [Action] {
        guard let call, call.options.reloadsWhenConnected, !call.isRunning else { return [] }
        if call.growError?.isOfNetwork ?? false, call.checkError == nil {
            self.call?.request = call.given.retrying
            self.call?.askedSize = call.shownSize
            return grow()
        }
        guard let error = state.error ?? call.checkError, error.isOfNetwork else { return [] }
        self.call?.request = call.given.retrying
        self.call?.result = nil
        self.call?.checkError = nil
        return start()
    }

    /// Shows the call's placeholder, whose delay has passed.
    mutating func placeholderIsDue(_ number: Int) -> [Action] {
        guard number == generation, let call, call.result == nil, state.image == nil else { return [] }
        return [.show(call: number, call.options.placeholder, .placeholder, call.options)]
    }

    /// Whether the slot still needs this load, to show its picture or to answer its call.
    func waits(for load: Int) -> Bool { call?.load == load || detached[load] != nil }

    mutating func transitionEnded(_ number: Int) -> [Action] {
        guard number == generation, let result = call?.result, call?.awaitsTransition == true else { return [] }
        call?.awaitsTransition = false
        return [.answer(call: number, result)]
    }

    // MARK: - From loads

    /// Receives the result of a look-up in memory for a target that is not visible. If it is nil, the load waits until
    /// the target is visible.
    mutating func looked(_ number: Int, _ response: ImageResponse?) -> [Action] {
        guard number == generation, let call, !call.isRunning, !call.hasPicture else { return [] }
        return response.map { finish($0, atOnce: true) } ?? wait(.paused)
    }

    /// Shows that the user has to wait, because a load that was just started has not ended at once.
    mutating func mustWait(_ load: Int) -> [Action] {
        guard let call, call.load == load else { return [] }
        return showWaiting()
    }

    /// - Parameter atOnce: whether the event came while the load was being started, before the owner's call has
    ///   returned.
    mutating func receive(_ event: ImageEvent, of load: Int, atOnce: Bool) -> [Action] {
        if let number = detached[load] {
            guard case .finished(let result) = event else { return [] }
            detached[load] = nil
            return [.answer(call: number, result)]
        }
        guard let call, call.load == load else { return [] }
        switch event {
        case .progress(let progress): return receive(progress, call)
        case .preview(let image):
            // A part of a newer picture does not replace a whole one.
            guard call.options.showsPreviews, !call.hasPicture, call.cached == nil else { return [] }
            state.image = image
            return show(image, .preview, call.options) + [.tell(call: generation)]
        case .cached(let response):
            self.call?.cached = response
            let actions = show(response, call.options, atOnce: atOnce)
            return actions + [.tell(call: generation)]
        case .finished(.success(let response)): return finish(response, atOnce: atOnce)
        case .finished(.failure(let error)): return fail(error)
        }
    }

    private mutating func receive(_ progress: LoadProgress, _ call: Call) -> [Action] {
        guard !call.hasPicture else { return [] }
        state.progress = progress
        let told: [Action] =
            call.isIndicating ? call.options.indicator.map { [.tellIndicator($0, progress.fraction)] } ?? [] : []
        return told + [.tell(call: generation)]
    }

    private mutating func finish(_ response: ImageResponse, atOnce: Bool) -> [Action] {
        guard let call else { return [] }
        self.call?.load = nil
        var actions = stopIndicator()
        let isFirst = call.result == nil
        self.call?.shownSize = call.askedSize
        self.call?.cached = nil
        self.call?.growError = nil
        state.phase = .loaded(response.source)
        let shown = show(response, call.options, atOnce: atOnce)
        actions += shown + [.tell(call: generation)]
        self.call?.result = .success(response)
        if isFirst {
            let isMoving = shown.contains { if case .run = $0 { true } else { false } }
            if isMoving, call.options.waitsForTransition {
                self.call?.awaitsTransition = true
            } else {
                actions.append(.answer(call: generation, .success(response)))
            }
        }
        return actions + grow()
    }

    private mutating func fail(_ error: WebImageError) -> [Action] {
        guard let call else { return [] }
        self.call?.load = nil
        var actions = stopIndicator()
        // The slot keeps its picture: only a larger one could not be loaded.
        if call.hasPicture {
            self.call?.growError = error
            return actions
        }
        // The cached picture could only not be checked. It is the answer, as that of `image(for:)`.
        if error.leavesCachedPicture, let cached = call.cached {
            self.call?.cached = nil
            self.call?.checkError = error
            state.phase = .loaded(cached.source)
            self.call?.result = .success(cached)
            self.call?.shownSize = call.askedSize
            return actions + [.tell(call: generation), .answer(call: generation, .success(cached))]
        }
        state.phase = error.code == .cancelled ? .cancelled : .failed(error)
        if error.code == .cancelled {
            // All loads were cancelled (`cancelAll()`): that is not a failure to show to the user. But the picture of
            // another request must not stay.
            if !call.hasBegun, !call.options.keepsCurrentImage, state.image == nil {
                actions.append(.show(call: generation, call.options.placeholder, .placeholder, call.options))
            }
        } else if state.image == nil || state.image?.info.isPartial == true {
            if let image = call.options.errorImage {
                state.image = nil
                actions.append(.show(call: generation, image, .error, call.options))
            } else if state.image == nil, call.options.keepsCurrentImage || isPlaceholderDelayed || !call.hasBegun {
                actions.append(.show(call: generation, call.options.placeholder, .placeholder, call.options))
            }
        }
        actions.append(.tell(call: generation))
        if call.result == nil { actions.append(.answer(call: generation, .failure(error))) }
        self.call?.result = .failure(error)
        return actions
    }

    private var isPlaceholderDelayed: Bool {
        call.map { $0.options.placeholderDelay > .zero && !$0.options.keepsCurrentImage } ?? false
    }

    // MARK: - Starting

    /// Starts a load of the current call, or sets the phase in which it waits.
    private mutating func start() -> [Action] {
        guard let call else { return [] }
        var request = call.request
        if let fit = call.options.fitsTarget, request.size == nil {
            guard let targetSize else { return wait(.waitingForSize) }
            self.call?.askedSize = targetSize
            request.size = TargetSize(targetSize, fit: fit)
        }
        if !isVisible {
            if call.options.whenHidden == .paused { return call.hasPicture ? [] : [.look(call: generation, request)] }
            if call.options.whenHidden == .demoted {
                self.call?.isDemoted = true
                request.priority = .veryLow
            }
        }
        lastLoad += 1
        self.call?.load = lastLoad
        if call.hasPicture { return [.start(load: lastLoad, request)] }
        state.phase = .loading
        state.progress = nil
        return [.start(load: lastLoad, request)]
    }

    private mutating func wait(_ phase: SlotState.Phase) -> [Action] {
        if call?.hasPicture == true { return [] }
        state.phase = phase
        return showWaiting()
    }

    /// Loads the picture again if the target has become too large for it.
    private mutating func grow() -> [Action] {
        guard let call, !call.isRunning, case .success(let response)? = call.result, let asked = call.askedSize,
            let targetSize, isVisible,
            response.image.isOutgrown(by: targetSize, askedSize: asked, call.options.fitsTarget)
        else { return [] }
        return start()
    }

    // MARK: - Showing

    /// Shows the placeholder and the indicator, if there is nothing else to show.
    private mutating func showWaiting() -> [Action] {
        guard let call, !call.hasPicture else { return [] }
        var actions: [Action] = []
        // A cached picture is shown while the origin is asked, so the user does not wait.
        if state.image != nil { return [.tell(call: generation)] }
        if !call.hasBegun {
            self.call?.hasBegun = true
            if !call.options.keepsCurrentImage {
                let isDelayed = isPlaceholderDelayed
                let image = isDelayed ? nil : call.options.placeholder
                actions.append(.show(call: generation, image, .placeholder, call.options))
                if isDelayed { actions.append(.delayPlaceholder(call: generation, call.options.placeholderDelay)) }
            }
        }
        if call.isRunning, !call.isIndicating, let indicator = call.options.indicator {
            self.call?.isIndicating = true
            actions.append(.startIndicator(call: generation, indicator))
        }
        return actions + [.tell(call: generation)]
    }

    private mutating func show(_ response: ImageResponse, _ options: SlotOptions, atOnce: Bool) -> [Action] {
        let image = response.image
        // The same picture is shown already: it came from the caches, and the origin has confirmed it.
        let isShown = state.image.map { $0.storage === image.storage } ?? false
        state.image = image
        if isShown { return [] }
        guard options.setImage == nil, options.setsImage, let transition = options.transition,
            options.forcesTransition || !atOnce && response.source.takesTime, call?.hasPicture != true
        else { return show(image, .picture, options) }
        return [.run(call: generation, transition, image)]
    }

    private func show(_ image: Image, _ role: SlotImageRole, _ options: SlotOptions) -> [Action] {
        options.setsImage || options.setImage != nil ? [.show(call: generation, image, role, options)] : []
    }

    private mutating func stopIndicator() -> [Action] {
        guard let call, call.isIndicating, let indicator = call.options.indicator else { return [] }
        self.call?.isIndicating = false
        return [.stopIndicator(indicator)]
    }

    // MARK: - Leaving

    /// Ends the current call, with an answer if it has had none.
    private mutating func leave(detaching: Bool) -> [Action] {
        var actions = stopIndicator()
        guard let call else { return actions }
        self.call = nil
        if call.awaitsTransition, let result = call.result {
            actions.append(.answer(call: generation, result))
        }
        if let load = call.load {
            if detaching, call.result == nil {
                detached[load] = generation
                return actions
            }
            actions.append(.stop(load: load))
        }
        if call.result == nil { actions.append(.answer(call: generation, .failure(.cancelled))) }
        return actions
    }
}

extension ImageSource {
    /// Whether the user may have waited for a picture from this source.
    fileprivate var takesTime: Bool {
        switch self {
        case .memory, .given: false
        case .disk, .tier, .network, .file: true
        }
    }
}

extension ImageRequest {
    /// The request, loading also a URL that is blocked after a failure.
    fileprivate var retrying: ImageRequest {
        var request = self
        request.retriesFailed = true
        return request
    }
}
