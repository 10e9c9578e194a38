public import WebImageCore

/// One place on a target that shows the picture of one load. Slots are made by ``ImageSlots``.
///
/// A slot counts its calls. Pictures that still arrive for an earlier call are not shown, so that a slot never shows
/// the picture of another request than the last. Everything happens on the main actor.
@MainActor public final class ImageSlot {
    public typealias Completion = @MainActor (Result<ImageResponse, WebImageError>) -> Void

    public let name: SlotName
    /// The state of the slot: what it loads and shows.
    public var state: SlotState { machine.state }

    private let surroundings: SlotSurroundings
    private var machine: SlotMachine
    private var loads: [Int: SlotLoad] = [:]
    /// The completions by call. A caller may join the previous call, so that several callers wait for one answer.
    private var completions: [Int: [(caller: Int, run: SlotCompletion)]] = [:]
    private var lastCaller = 0
    private var lastOptions = SlotOptions()

    init(_ name: SlotName, in surroundings: SlotSurroundings) {
        self.name = name
        self.surroundings = surroundings
        machine = SlotMachine(targetSize: surroundings.size, isVisible: surroundings.isVisible)
    }

    isolated deinit {
        // Loads and completions end when they are released, but an indicator must be told.
        for case .stopIndicator(let indicator) in machine.abandon() { indicator.stop() }
    }

    // MARK: - For the target's owner

    /// Loads a picture and shows it. A picture that is in memory is shown before this returns, without a placeholder.
    ///
    /// - Parameters:
    ///   - request: the request; nil shows the placeholder and fails with `invalidURL`.
    ///   - options: how the picture is shown; nil: ``ImageSlots/options``.
    ///   - completion: called once, with the picture or the error. If a later call replaces this one, it is called with
    ///     `cancelled` before the later load begins; see ``SlotOptions/cancelsPrevious``. If the target is deallocated
    ///     before the answer, it is called with `cancelled`, too.
    public func load(_ request: ImageRequest?, options: SlotOptions? = nil, completion: Completion? = nil) {
        begin(request, options ?? surroundings.options, isRetry: false, completion)
    }

    /// - Returns: the number of the caller, for ``cancel(caller:)``.
    @discardableResult
    private func begin(
        _ request: ImageRequest?, _ options: SlotOptions, isRetry: Bool, _ completion: Completion?
    ) -> Int {
        lastOptions = options
        lastCaller += 1
        let caller = lastCaller
        let actions = machine.begin(request, options, isRetry: isRetry)
        if let completion {
            let run = SlotCompletion(completion, hop: surroundings.hop)
            completions[machine.generation, default: []].append((caller, run))
        }
        perform(actions)
        return caller
    }

    /// Loads a picture, and returns when it is shown. Cancelling the task cancels the load, unless the slot was called
    /// again since, even if that call has joined the same load.
    ///
    /// - Throws: any code of ``/WebImageCore/WebImageError``; `cancelled` also when a later call has replaced this one.
    @discardableResult
    public func show(_ request: ImageRequest?, options: SlotOptions? = nil) async throws(WebImageError) -> ImageResponse
    {
        let number = NumberBox()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                number.value = begin(request, options ?? surroundings.options, isRetry: false) {
                    continuation.resume(returning: $0)
                }
                if Task.isCancelled { cancel(caller: number.value) }
            }
        } onCancel: {
            surroundings.hop { [weak self] in self?.cancel(caller: number.value) }
        }
        return try result.get()
    }

    /// Cancels the load. The slot keeps showing its current picture.
    public func cancel() { perform(machine.cancel()) }

    /// Cancels the load, and shows nothing: by ``SlotOptions/setImage``, if the last call had it.
    public func clear() { perform(machine.clear()) }

    /// Repeats the last request, even if its URL is blocked after a failure. Call it from a retry button.
    public func reload(completion: Completion? = nil) {
        begin(state.request, lastOptions, isRetry: true, completion)
    }

    /// Cancels the load if the slot was not called again since; otherwise only ends the caller's wait.
    private func cancel(caller: Int) {
        guard let (call, place) = wait(of: caller) else { return }
        if caller == lastCaller { return cancel() }
        let waiting = completions[call]?.remove(at: place)
        waiting?.run(.failure(.cancelled))
    }

    /// The call whose answer the caller waits for, and the caller's index among those that wait for it; nil after the
    /// answer.
    private func wait(of caller: Int) -> (call: Int, place: Int)? {
        for (call, waiting) in completions {
            if let place = waiting.firstIndex(where: { $0.caller == caller }) { return (call, place) }
        }
        return nil
    }

    // MARK: - From the target

    func resize(to size: PixelSize?) { perform(machine.resize(to: size)) }
    func setVisible(_ isVisible: Bool) { perform(machine.setVisible(isVisible)) }
    func lookInMemory() { perform(machine.lookInMemory()) }
    func connected() { perform(machine.connected()) }

    // MARK: - Carrying out

    /// Ends all loads with `cancelled`, because the target no longer exists.
    func abandon() { perform(machine.abandon()) }

    private func perform(_ actions: [SlotMachine.Action]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: SlotMachine.Action) {
        switch action {
        case .start(let load, let request): start(load, request)
        case .proceed(let call): perform(machine.proceed(call))
        case .look(let call, let request):
            guard call == machine.generation else { return }
            perform(machine.looked(call, surroundings.manager.responseFromMemory(for: request)))
        case .stop(let load): loads[load] = nil
        case .setPriority(let load, let priority): loads[load]?.setPriority(priority)
        case .show(let call, let image, let role, let options):
            withTarget(of: call) { show(image, role, options, on: $0) }
        case .run(let call, let transition, let image):
            withTarget(of: call) { target in
                target.apply(watched(transition, to: image), to: image, in: name) { [weak self] in
                    self?.transitionEnded(call)
                }
            }
        case .delayPlaceholder(let call, let delay): showPlaceholder(of: call, after: delay)
        case .startIndicator(let call, let indicator): if call == machine.generation { indicator.start() }
        case .stopIndicator(let indicator): indicator.stop()
        case .tellIndicator(let indicator, let fraction): indicator.show(fraction: fraction)
        case .tell(let call): withTarget(of: call) { $0.slot(name, didChange: machine.state) }
        case .answer(let call, let result):
            for (_, run) in completions.removeValue(forKey: call) ?? [] { run(result) }
        }
    }

    private func withTarget(of call: Int, _ body: (any ImageTarget) -> Void) {
        guard call == machine.generation else { return }
        if let target = surroundings.target {
            body(target)
        } else {
            abandon()
        }
    }

    private func show(_ image: Image?, _ role: SlotImageRole, _ options: SlotOptions, on target: any ImageTarget) {
        if let setImage = options.setImage { return setImage(image, role) }
        switch (role, image) {
        case (.preview, let image?): target.setPreview(image, in: name)
        case (.placeholder, _): target.setPlaceholder(image, in: name)
        case (.error, _): target.setErrorImage(image, in: name)
        case (.picture, _), (.preview, nil): target.setImage(image, in: name)
        }
    }

    private func start(_ number: Int, _ request: ImageRequest) {
        // An action before this one may have run code that called the slot again.
        guard machine.waits(for: number) else { return }
        if let response = surroundings.manager.responseFromMemory(for: request) {
            return perform(machine.receive(.finished(.success(response)), of: number, atOnce: true))
        }
        let hop = surroundings.hop
        let load = SlotLoad(number) { [weak self] load in
            hop { [weak self] in self?.take(from: load, atOnce: false) }
        }
        loads[number] = load
        load.begin(request, by: surroundings.manager)
        take(from: load, atOnce: true)
        perform(machine.mustWait(number))
    }

    /// Takes the events of a load, unless the slot has dropped the load.
    private func take(from load: SlotLoad, atOnce: Bool) {
        if surroundings.target == nil { return abandon() }
        while loads[load.number] === load, let event = load.take() {
            if case .finished = event { loads[load.number] = nil }
            perform(machine.receive(event, of: load.number, atOnce: atOnce))
        }
    }

    /// A custom transition may show its picture at any time, but must not do so once the slot has another one.
    private func watched(_ transition: any ImageTransition, to image: Image) -> any ImageTransition {
        guard var custom = transition as? CustomTransition else { return transition }
        custom.isCurrent = { [weak self] in self?.state.image?.storage === image.storage }
        return custom
    }

    private func transitionEnded(_ call: Int) { perform(machine.transitionEnded(call)) }

    private func showPlaceholder(of call: Int, after delay: Duration) {
        let (clock, hop) = (surroundings.clock, surroundings.hop)
        _ = clock.schedule(at: clock.now + delay) { [weak self] in
            hop { [weak self] in
                guard let self else { return }
                perform(machine.placeholderIsDue(call))
            }
        }
    }
}

/// A number that is set and read only on the main actor.
@MainActor private final class NumberBox {
    var value = 0
    nonisolated init() {}
}
