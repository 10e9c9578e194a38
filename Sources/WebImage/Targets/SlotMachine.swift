import WebImageCore

/// What one slot does, as a value: calls and answers come in, and what is to be done for them goes out. It knows no target, no
/// thread and no clock.
///
/// Each call of the slot's owner has a number, its generation; each load that is begun for a call has one of its own, since a
/// call may need several: a larger one when the target grows, another one when the network is back. What a load says is taken
/// only while it is the current one.
struct SlotMachine {
    /// What the current call is about.
    private struct Call {
        /// As the caller gave it.
        let given: ImageRequest
        /// As it is loaded: a retry also loads what is blocked after a failure.
        var request: ImageRequest
        var options: SlotOptions
        /// The load that runs for it.
        var load: Int?
        /// The size that was asked for last in the target's name.
        var askedSize: PixelSize?
        /// Whether a placeholder was shown for it, or delayed.
        var hasBegun = false
        var isIndicating = false
        /// Its answer, once there is one.
        var result: Result<ImageResponse, WebImageError>?
        /// Whether the answer waits for the end of a transition.
        var awaitsTransition = false
        var isDemoted = false

        var isRunning: Bool { load != nil }
        /// Whether the load has brought a picture; one that runs all the same is to bring a larger one.
        var hasPicture: Bool { if case .success? = result { true } else { false } }
    }

    private(set) var state = SlotState()
    private(set) var generation = 0
    private var lastLoad = 0
    private var call: Call?
    /// The calls of loads that go on without being shown.
    private var detached: [Int: Int] = [:]
    private var isVisible = true
    /// The size in pixels; nil until it is known. A side of 0 follows from the other one.
    private var targetSize: PixelSize?

    init(targetSize: PixelSize?, isVisible: Bool) {
        self.targetSize = targetSize
        self.isVisible = isVisible
    }

    // MARK: - From the owner

    /// A new call. Its number is ``generation`` afterwards, unless it has joined the one before.
    ///
    /// - Parameter isRetry: whether it also loads what is blocked after a failure.
    mutating func begin(_ request: ImageRequest?, _ options: SlotOptions, isRetry: Bool = false) -> [Action] {
        let loaded = isRetry ? request?.retrying : request
        // A retry takes part in a retry alone; any other call does not care how its request is loaded.
        let isEqual = isRetry ? call?.request == loaded : call?.given == request
        if isEqual, request != nil, let joined = join(options) { return joined }
        var actions = leave(detaching: !options.cancelsPrevious)
        generation += 1
        state = SlotState()
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
        return actions + start()
    }

    /// Takes part in the current call, which is for the same request; nil: a call of its own is needed.
    private mutating func join(_ options: SlotOptions) -> [Action]? {
        guard options.keepsEqualLoad, let call else { return nil }
        switch (state.phase, call.result) {
        case (.loaded, .success(let response)?) where !call.awaitsTransition:
            return [.answer(call: generation, .success(response))]
        case (.loaded, _), (.loading, _), (.paused, _), (.waitingForSize, _): return []
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
        return actions + [.show(call: generation, nil, .placeholder, SlotOptions()), .tell(call: generation)]
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
            guard let load = call.load else { return grow() }
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
            // A picture that is only made larger waits until the target is seen, and grows then.
            if !call.hasPicture {
                state.phase = .paused
                actions.append(.tell(call: generation))
            }
            return actions
        }
    }

    /// Looks whether memory has by now what waits until the target is seen.
    mutating func lookInMemory() -> [Action] {
        guard case .paused = state.phase, !isVisible, call?.isRunning == false else { return [] }
        return start()
    }

    /// The network is back.
    mutating func connected() -> [Action] {
        guard let call, call.options.reloadsWhenConnected, !call.isRunning, let error = state.error, error.isOfNetwork
        else { return [] }
        self.call?.request = call.given.retrying
        self.call?.result = nil
        return start()
    }

    /// The delay of the call's placeholder has passed.
    mutating func placeholderIsDue(_ number: Int) -> [Action] {
        guard number == generation, let call, call.result == nil, state.image == nil else { return [] }
        return [.show(call: number, call.options.placeholder, .placeholder, call.options)]
    }

    /// Whether it waits for this load, or for its answer.
    func waits(for load: Int) -> Bool { call?.load == load || detached[load] != nil }

    mutating func transitionEnded(_ number: Int) -> [Action] {
        guard number == generation, let result = call?.result, call?.awaitsTransition == true else { return [] }
        call?.awaitsTransition = false
        return [.answer(call: number, result)]
    }

    // MARK: - From loads

    /// What memory has for a target that is not seen; nil: nothing, so that the load waits until it is.
    mutating func looked(_ number: Int, _ response: ImageResponse?) -> [Action] {
        guard number == generation, let call, !call.isRunning, !call.hasPicture else { return [] }
        return response.map { finish($0, atOnce: true) } ?? wait(.paused)
    }

    /// A load that was started has not answered at once: the user has to wait.
    mutating func mustWait(_ load: Int) -> [Action] {
        guard let call, call.load == load else { return [] }
        return showWaiting()
    }

    /// - Parameter atOnce: whether the load was started by the call that still runs.
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
            guard call.options.showsPreviews, !call.hasPicture else { return [] }
            state.image = image
            return show(image, .preview, call.options) + [.tell(call: generation)]
        case .cached(let response):
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
        // The picture that there is stays, and stays good: it could only not be had larger.
        if call.hasPicture { return actions }
        state.phase = error.code == .cancelled ? .cancelled : .failed(error)
        if error.code == .cancelled {
            // Somebody has ended all loads: that is nothing to alarm the user with.
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

    /// Begins a load of the current call, or says what it waits for.
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

    /// Loads the picture again where the target has outgrown it.
    private mutating func grow() -> [Action] {
        guard let call, !call.isRunning, case .success(let response)? = call.result, let asked = call.askedSize,
            let targetSize, isVisible,
            response.image.isOutgrown(by: targetSize, askedSize: asked, call.options.fitsTarget)
        else { return [] }
        return start()
    }

    // MARK: - Showing

    /// What the user sees while there is nothing else.
    private mutating func showWaiting() -> [Action] {
        guard let call, !call.hasPicture else { return [] }
        var actions: [Action] = []
        // What the caches had while the origin is asked is no reason to wait.
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
        // The very picture is there already: the caches had it, and the origin has said that it is still the one.
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
    /// Whether the user may have waited for it.
    fileprivate var takesTime: Bool {
        switch self {
        case .memory, .given: false
        case .disk, .tier, .network, .file: true
        }
    }
}

extension ImageRequest {
    /// The request, for a load of what may be blocked after a failure.
    fileprivate var retrying: ImageRequest {
        var request = self
        request.retriesFailed = true
        return request
    }
}
