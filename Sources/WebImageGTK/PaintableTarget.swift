#if GTK
    public import WebImage
    public import WebImageCore

    /// A target that shows the picture of its slot on an ``ImagePaintable``, and plays animated pictures.
    ///
    /// ``WebImageView`` is a widget with such a target; ``GTKWidget/webImage(_:options:)`` makes a target for an
    /// existing widget.
    @MainActor public final class PaintableTarget: ImageTarget {
        public let paintable: ImagePaintable
        /// The slots that load for the target.
        public private(set) var slots: ImageSlots!
        /// The player of the current picture; nil for a still picture. When another picture is shown, the player of the
        /// previous one pauses, and no longer draws.
        public private(set) var player: AnimatedImagePlayer?
        /// Whether animated pictures play automatically. Default true.
        public var plays = true { didSet { if plays != oldValue { plays ? player?.play() : player?.pause() } } }
        /// Called with each state of the load.
        public var onStateChange: (@MainActor (SlotState) -> Void)?
        /// The fit of placeholders and error images; nil (the default): the same as for pictures.
        public var placeholderFit: ContentFit?

        /// The object that is notified of each state before ``onStateChange`` is called.
        weak var owner: (any PaintableTargetOwner)?
        /// A placeholder that fills the area unless ``placeholderFit`` is set, because it has no aspect ratio of its
        /// own.
        var stretchedPlaceholder: Image?

        /// The request whose picture the player plays.
        private var playedRequest: ImageRequest?
        private let clock = GTKFrameClock()
        private var isVisible = true

        /// - Parameters:
        ///   - paintable: shows the pictures.
        ///   - manager: loads the pictures.
        ///   - options: the options of loads that do not set their own.
        ///   - connectivity: reports when the network is available again; nil: loads that failed without a network are
        ///     not repeated.
        public init(
            _ paintable: ImagePaintable = ImagePaintable(), manager: ImageManager, options: SlotOptions = SlotOptions(),
            connectivity: (any ConnectivityMonitor)? = SystemNetwork.shared
        ) {
            self.paintable = paintable
            slots = ImageSlots(of: self, manager: manager, options: options, connectivity: connectivity)
        }

        /// The state of the load.
        public var state: SlotState { slots[.image].state }

        /// Loads a picture and shows it: ``/WebImage/ImageSlots/load(_:into:_:completion:)``.
        ///
        /// - Parameters:
        ///   - request: the request; nil shows the placeholder.
        ///   - change: changes a copy of the options of ``slots`` for this load. Called once, before this returns.
        ///   - completion: called once, with the picture or with the error.
        public func load(
            _ request: ImageRequest?, _ change: (inout SlotOptions) -> Void = { _ in },
            completion: ImageSlot.Completion? = nil
        ) {
            slots.load(request, change, completion: completion)
        }

        /// Sets whether the target is visible. While it is not, its loads have a lower priority or pause, and
        /// animations stand still.
        public func setVisible(_ isVisible: Bool) {
            self.isVisible = isVisible
            slots.isVisible = isVisible
            player?.isVisible = isVisible
        }

        // MARK: - For the slot

        public func setImage(_ image: Image?, in slot: SlotName) { show(image, of: slots[slot].state.request) }

        public func setPlaceholder(_ image: Image?, in slot: SlotName) {
            let isStretched = image != nil && image?.storage === stretchedPlaceholder?.storage
            show(image, fit: placeholderFit ?? (isStretched ? .fill : nil))
        }

        public func setErrorImage(_ image: Image?, in slot: SlotName) { show(image, fit: placeholderFit) }

        /// Runs a transition. Every transition except a ``/WebImage/CustomTransition`` is shown as a fade.
        public func apply(
            _ transition: any ImageTransition, to image: Image, in slot: SlotName,
            completion: @escaping @MainActor () -> Void
        ) {
            if let custom = transition as? CustomTransition {
                custom.run(to: image, in: slot, of: self, completion: completion)
            } else {
                show(
                    image, of: slots[slot].state.request, fading: transition.duration, completion: completion)
            }
        }

        public func slot(_ slot: SlotName, didChange state: SlotState) {
            owner?.targetStateChanged(to: state)
            onStateChange?(state)
        }

        private func show(
            _ image: Image?, of request: ImageRequest? = nil, fading duration: Duration? = nil, fit: ContentFit? = nil,
            completion: (@MainActor () -> Void)? = nil
        ) {
            if let image, continuesPlaying(image, of: request) {
                completion?()
                return
            }
            // The program may hold the player.
            self.player?.pause()
            let player = image.flatMap { AnimatedImagePlayer($0, clock: clock, isVisible: isVisible) }
            (self.player, playedRequest) = (player, player == nil ? nil : request)
            paintable.show(image, fading: duration, fit: fit, completion: completion)
            // The completion may have shown another picture already.
            guard let player, self.player === player else { return }
            player.onFrame = { [weak self, weak player] frame, _ in
                guard let self, let player, self.player === player else { return }
                paintable.replace(with: Texture(frame))
            }
            if plays { player.play() }
        }

        /// Makes the player continue with a later state of its animation, or with the same animation in another size.
        private func continuesPlaying(_ image: Image, of request: ImageRequest?) -> Bool {
            guard let player, let animation = image.animation else { return false }
            if player.animation.hasFrames(of: animation) {
                player.update(image)
                return true
            }
            return request != nil && request == playedRequest && player.replaceFrames(with: image)
        }
    }

    /// The owner of a target. It uses no closure of the target, so that the program can set it.
    @MainActor protocol PaintableTargetOwner: AnyObject {
        func targetStateChanged(to state: SlotState)
    }
#endif
