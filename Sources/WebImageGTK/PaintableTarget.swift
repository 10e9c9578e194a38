#if GTK
    public import WebImage
    public import WebImageCore

    /// A target that shows what its slot loads on an ``ImagePaintable``, and plays animated pictures.
    ///
    /// ``WebImageView`` is a widget around one; ``GTKWidget/webImage(_:options:)`` makes one for a widget that there is already.
    @MainActor public final class PaintableTarget: ImageTarget {
        public let paintable: ImagePaintable
        /// Loads for it.
        public private(set) var slots: ImageSlots!
        /// Plays the picture that is shown; nil for a still.
        public private(set) var player: AnimatedImagePlayer?
        /// Whether animated pictures are played of themselves. Default true.
        public var plays = true { didSet { if plays != oldValue { plays ? player?.play() : player?.pause() } } }
        /// Called with each state of the load.
        public var onStateChange: (@MainActor (SlotState) -> Void)?
        /// Where placeholders and error images are drawn; nil (the default): as pictures.
        public var placeholderFit: ContentFit?

        private let clock = GTKFrameClock()
        private var isVisible = true

        /// - Parameters:
        ///   - paintable: what pictures are shown on.
        ///   - manager: loads.
        ///   - options: how loads are shown whose calls say nothing else.
        ///   - connectivity: says when the network is back; nil: nobody.
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
        ///   - request: what is loaded; nil shows the placeholder.
        ///   - change: sets what differs from the options of ``slots``. Called once, now.
        ///   - completion: called once, with the picture or with what went wrong.
        public func load(
            _ request: ImageRequest?, _ change: (inout SlotOptions) -> Void = { _ in },
            completion: ImageSlot.Completion? = nil
        ) {
            slots.load(request, change, completion: completion)
        }

        /// Says whether it can be seen: loads of what cannot give way, and animations stand still.
        public func setVisible(_ isVisible: Bool) {
            self.isVisible = isVisible
            slots.isVisible = isVisible
            player?.isVisible = isVisible
        }

        // MARK: - For the slot

        public func setImage(_ image: Image?, in slot: SlotName) { show(image) }
        public func setPlaceholder(_ image: Image?, in slot: SlotName) { show(image, fit: placeholderFit) }
        public func setErrorImage(_ image: Image?, in slot: SlotName) { show(image, fit: placeholderFit) }

        /// Every transition that is not its caller's own is a fade.
        public func apply(
            _ transition: any ImageTransition, to image: Image, in slot: SlotName,
            completion: @escaping @MainActor () -> Void
        ) {
            if let custom = transition as? CustomTransition {
                custom.run(to: image, in: slot, of: self, completion: completion)
            } else {
                show(image, fading: transition.duration, completion: completion)
            }
        }

        public func slot(_ slot: SlotName, didChange state: SlotState) { onStateChange?(state) }

        private func show(
            _ image: Image?, fading duration: Duration? = nil, fit: ContentFit? = nil,
            completion: (@MainActor () -> Void)? = nil
        ) {
            // A later state of the same animation goes on where the one before was.
            if let image, let player, let animation = image.animation, player.animation.hasFrames(of: animation) {
                player.update(image)
                completion?()
                return
            }
            player = nil
            paintable.show(image, fading: duration, fit: fit, completion: completion)
            guard let image, let player = AnimatedImagePlayer(image, clock: clock) else { return }
            self.player = player
            player.onFrame = { [weak self] frame, _ in self?.paintable.replace(with: Texture(frame)) }
            player.isVisible = isVisible
            if plays { player.play() }
        }
    }
#endif
