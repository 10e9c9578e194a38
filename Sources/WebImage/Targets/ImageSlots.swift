public import WebImageCore

/// The slots of one target, and what they have in common. A target has one for as long as it lives; with it go its loads.
///
/// The target is not kept alive. Everything is on the main actor.
@MainActor public final class ImageSlots {
    private let surroundings: SlotSurroundings
    private var slots: [SlotName: ImageSlot] = [:]
    private var connectivity: ConnectivityObservation?

    /// How loads are shown whose calls say nothing else.
    public var options: SlotOptions {
        get { surroundings.options }
        set { surroundings.options = newValue }
    }

    /// - Parameters:
    ///   - target: shows what is loaded.
    ///   - manager: loads.
    ///   - options: how loads are shown whose calls say nothing else.
    ///   - connectivity: says when the network is back, for loads that failed for want of it
    ///     (``SlotOptions/reloadsWhenConnected``); nil: nobody says so. Default ``SystemNetwork/shared``.
    public convenience init(
        of target: any ImageTarget, manager: ImageManager, options: SlotOptions = SlotOptions(),
        connectivity: (any ConnectivityMonitor)? = SystemNetwork.shared
    ) {
        self.init(of: target, manager: manager, options: options, connectivity: connectivity) { body in
            Task { @MainActor in body() }
        }
    }

    /// - Parameter hop: how events come to the main actor.
    init(
        of target: any ImageTarget, manager: ImageManager, options: SlotOptions = SlotOptions(),
        connectivity: (any ConnectivityMonitor)? = nil, hop: @escaping MainActorHop
    ) {
        surroundings = SlotSurroundings(target: target, manager: manager, options: options, hop: hop)
        self.connectivity = connectivity?.onReturn { [weak self] in
            hop { [weak self] in self?.slots.values.forEach { $0.connected() } }
        }
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
    ///   - request: what is loaded; nil shows the placeholder and fails with `invalidURL`.
    ///   - slot: where it is shown.
    ///   - change: sets what differs from ``options``. Called once, now.
    ///   - completion: called once, with the picture or with what went wrong.
    public func load(
        _ request: ImageRequest?, into slot: SlotName = .image, _ change: (inout SlotOptions) -> Void = { _ in },
        completion: ImageSlot.Completion? = nil
    ) {
        var options = options
        change(&options)
        self[slot].load(request, options: options, completion: completion)
    }

    /// Ends the loads of all slots; they go on showing what they show.
    public func cancel() { for slot in slots.values { slot.cancel() } }

    /// Ends the loads of all slots, and shows nothing in any.
    public func clear() { for slot in slots.values { slot.clear() } }

    /// Whether the target can be seen. What becomes of loads while it is not says ``SlotOptions/whenHidden``. Default true.
    public var isVisible: Bool {
        get { surroundings.isVisible }
        set {
            guard newValue != surroundings.isVisible else { return }
            surroundings.isVisible = newValue
            for slot in slots.values { slot.setVisible(newValue) }
        }
    }

    /// Shows what memory has by now of what waits until the target is seen (``SlotOptions/HiddenLoads/paused``). A toolkit that can
    /// say only a turn of its loop later that the target is seen calls it before the frame in which it is.
    public func lookInMemory() { for slot in slots.values { slot.lookInMemory() } }

    /// Tells how large the target is, in pixels of the screen: for loads with ``SlotOptions/fitsTarget``. To be called whenever
    /// that has changed. An empty size counts as not known.
    public func resize(to size: PixelSize) {
        guard size != surroundings.size else { return }
        surroundings.size = size.isEmpty ? nil : size
        for slot in slots.values { slot.resize(to: size) }
    }

    /// Tells how large the target is.
    ///
    /// - Parameters:
    ///   - width: in the units of the toolkit.
    ///   - height: in the same units.
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
    /// In pixels; nil as long as nobody knows.
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
