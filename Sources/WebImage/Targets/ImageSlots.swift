public import WebImageCore

/// The slots of one target, and their common settings. A target has one such object for its lifetime; its loads end
/// with it.
///
/// It does not keep the target alive. It is isolated to the main actor.
@MainActor public final class ImageSlots {
    private let surroundings: SlotSurroundings
    private var slots: [SlotName: ImageSlot] = [:]
    private var connectivity: ConnectivityObservation?

    /// The options of loads whose calls do not give their own.
    public var options: SlotOptions {
        get { surroundings.options }
        set { surroundings.options = newValue }
    }

    /// - Parameters:
    ///   - target: shows the pictures.
    ///   - manager: loads the pictures.
    ///   - options: the options of loads whose calls do not give their own.
    ///   - connectivity: reports when the network is back, for loads that failed without it
    ///     (``SlotOptions/reloadsWhenConnected``); nil: such loads are not repeated. Default ``SystemNetwork/shared``.
    public convenience init(
        of target: any ImageTarget, manager: ImageManager, options: SlotOptions = SlotOptions(),
        connectivity: (any ConnectivityMonitor)? = SystemNetwork.shared
    ) {
        self.init(of: target, manager: manager, options: options, connectivity: connectivity) { body in
            Task { @MainActor in body() }
        }
    }

    /// - Parameter hop: calls a closure on the main actor, for events that come from other threads.
    init(
        of target: any ImageTarget, manager: ImageManager, options: SlotOptions = SlotOptions(),
        connectivity: (any ConnectivityMonitor)? = nil, hop: @escaping MainActorHop
    ) {
        surroundings = SlotSurroundings(target: target, manager: manager, options: options, hop: hop)
        self.connectivity = connectivity?.onReturn { [weak self, weak manager] in
            // Failures without a network say nothing about the hosts, which may be asked again at once.
            manager?.downloader.closeCircuits()
            hop { [weak self] in self?.slots.values.forEach { $0.connected() } }
        }
    }

    isolated deinit {
        // The target is gone, and slots that wait for its size or until it is visible would wait for ever.
        for slot in slots.values { slot.abandon() }
    }

    /// The slot of a name.
    public subscript(name: SlotName) -> ImageSlot {
        if let slot = slots[name] { return slot }
        let slot = ImageSlot(name, in: surroundings)
        slots[name] = slot
        return slot
    }

    /// Loads a picture and shows it: ``ImageSlot/load(_:options:completion:)``.
    ///
    /// - Parameters:
    ///   - request: the request; nil shows the placeholder and fails with `invalidURL`.
    ///   - slot: the slot that shows the picture.
    ///   - change: changes a copy of ``options`` for this load. Called once, before this returns.
    ///   - completion: called once, with the picture or with the error.
    public func load(
        _ request: ImageRequest?, into slot: SlotName = .image, _ change: (inout SlotOptions) -> Void = { _ in },
        completion: ImageSlot.Completion? = nil
    ) {
        var options = options
        change(&options)
        self[slot].load(request, options: options, completion: completion)
    }

    /// Cancels the loads of all slots, which keep showing their current pictures.
    public func cancel() { for slot in slots.values { slot.cancel() } }

    /// Cancels the loads of all slots, and shows nothing in any of them.
    public func clear() { for slot in slots.values { slot.clear() } }

    /// Whether the target is visible. ``SlotOptions/whenHidden`` says what happens to loads while it is not. Default
    /// true.
    public var isVisible: Bool {
        get { surroundings.isVisible }
        set {
            guard newValue != surroundings.isVisible else { return }
            surroundings.isVisible = newValue
            // What a slot tells may change it again.
            for slot in slots.values { slot.setVisible(surroundings.isVisible) }
        }
    }

    /// Shows pictures that are now in memory, for loads that wait until the target is visible
    /// (``SlotOptions/HiddenLoads/paused``). A toolkit that learns only one turn of its loop later that a target is
    /// visible can call this before it draws the frame.
    public func lookInMemory() { for slot in slots.values { slot.lookInMemory() } }

    /// Sets the size of the target, in pixels of the screen, for loads with ``SlotOptions/fitsTarget``. Call it
    /// whenever the size has changed. An empty size means that it is not known.
    public func resize(to size: PixelSize) { setSize(size.isEmpty ? nil : size) }

    /// Sets the size of a target that gets its size from its picture. A side of 0 is not known, and is derived from the
    /// other one.
    package func resize(toSides size: PixelSize) { setSize(size.width > 0 || size.height > 0 ? size : nil) }

    private func setSize(_ size: PixelSize?) {
        guard size != surroundings.size else { return }
        surroundings.size = size
        // What a slot tells may change it again.
        for slot in slots.values { slot.resize(to: surroundings.size) }
    }

    /// Sets the size of the target.
    ///
    /// - Parameters:
    ///   - width: the width in the units of the toolkit.
    ///   - height: the height in the same units.
    ///   - scale: how many pixels of the screen are one such unit.
    public func resize(width: Double, height: Double, scale: Double) {
        func pixels(_ length: Double) -> Int { Int((length * scale).rounded(.up).clamped(to: 0...1_000_000)) }
        resize(to: PixelSize(width: pixels(width), height: pixels(height)))
    }
}

/// What the slots of one target share.
@MainActor final class SlotSurroundings {
    weak var target: (any ImageTarget)?
    let manager: ImageManager
    let hop: MainActorHop
    var options: SlotOptions
    var isVisible = true
    /// The size in pixels; nil until it is known. A side of 0 is derived from the other one.
    var size: PixelSize?

    var clock: any LoadClock { manager.loader.clock }

    init(target: any ImageTarget, manager: ImageManager, options: SlotOptions, hop: @escaping MainActorHop) {
        self.target = target
        self.manager = manager
        self.options = options
        self.hop = hop
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
