#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImageCore

    /// A `GdkPaintable` that shows one picture, upright, and fades from one to the next.
    ///
    ///     let paintable = ImagePaintable()
    ///     paintable.show(placeholder)
    ///     paintable.show(image, fading: .milliseconds(300))
    ///
    /// A placeholder is a picture like any other. Fades need frames from ``ticks``. A fade ends at once if there are no
    /// frames, or if the user has disabled animations (`gtk-enable-animations`).
    ///
    /// The paintable lives as long as Swift or GTK retains it.
    @MainActor public final class ImagePaintable {
        /// The `GdkPaintable *`.
        public var pointer: UnsafeMutableRawPointer { object }
        /// The source of frames; an ``ImageBox`` sets itself as the source of its own paintable. When the source is
        /// replaced, a fade continues with frames of the new one.
        public weak var ticks: (any FrameTicks)? { didSet { if ticks !== oldValue { moveTicks(from: oldValue) } } }
        /// The fit of pictures that are shown without a fit of their own. Default ``ContentFit/contain``.
        public var contentFit = ContentFit.contain {
            didSet {
                guard contentFit != oldValue else { return }
                invalidateSize()
                invalidateContents()
            }
        }
        /// How many pixels of a picture make one logical pixel: the screen's scale factor, for pictures that were
        /// loaded for it. Default 1; values that are not positive and finite count as 1, others are kept between 0.01
        /// and 100.
        public var scale = 1.0 {
            didSet {
                guard scale != oldValue else { return }
                invalidateSize()
                invalidateContents()
            }
        }

        // Set in `init`, after the other properties, because it needs the address of this object.
        private var object: UnsafeMutableRawPointer!
        private var fades = FadeSequence<ShownPicture>()
        private var tick: TickID?
        private var completion: (@MainActor () -> Void)?

        public init() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            object = wi_paintable_new(Self.callbacks, context)
            ObjectTie.tie(object, to: context)
        }

        isolated deinit {
            if let tick { ticks?.removeTick(tick) }
            wi_paintable_detach(object)
            wi_untie(object)
        }

        /// The texture that is shown, or to which a fade leads.
        public var texture: Texture? { fades.newest?.texture }

        /// Whether a fade is running.
        public var isFading: Bool { fades.isFading }

        /// Shows a picture; nil shows nothing.
        ///
        /// - Parameters:
        ///   - image: the picture. Of an animated picture the first frame is shown.
        ///   - duration: how long the picture fades in over what is visible now, even in the middle of another fade;
        ///     nil shows it at once.
        ///   - fit: how the picture is fitted; nil uses ``contentFit``.
        ///   - completion: called once: when only the picture is visible, or when another one replaces it before.
        public func show(
            _ image: Image?, fading duration: Duration? = nil, fit: ContentFit? = nil,
            completion: (@MainActor () -> Void)? = nil
        ) {
            show(texture: image.map { Texture($0) }, fading: duration, fit: fit, completion: completion)
        }

        /// Shows a texture; nil shows nothing.
        ///
        /// - Parameters:
        ///   - texture: the texture.
        ///   - duration: how long the texture fades in over what is visible now, even in the middle of another fade;
        ///     nil shows it at once.
        ///   - fit: how the texture is fitted; nil uses ``contentFit``.
        ///   - completion: called once: when only the texture is visible, or when another one replaces it before.
        public func show(
            texture: Texture?, fading duration: Duration? = nil, fit: ContentFit? = nil,
            completion: (@MainActor () -> Void)? = nil
        ) {
            let interrupted = self.completion
            let (oldSize, oldFit) = (displaySize, newestFit)
            self.completion = completion
            fades.show(texture.map { ShownPicture(texture: $0, fit: fit) }, fading: duration)
            startTicks()
            if displaySize != oldSize || newestFit != oldFit { invalidateSize() }
            invalidateContents()
            interrupted?()
            completeIfDone()
        }

        /// Replaces the newest picture with a texture, as the next frame of an animation. A running fade continues, and
        /// the fit stays.
        public func replace(with texture: Texture) {
            let oldSize = displaySize
            fades.replaceNewest(with: ShownPicture(texture: texture, fit: fades.newest?.fit))
            if displaySize != oldSize { invalidateSize() }
            invalidateContents()
        }

        /// Ends a fade at once.
        public func finishFade() {
            guard fades.isFading else { return }
            fades.finish()
            invalidateContents()
            completeIfDone()
        }

        /// The size of the newest picture that is used for layout, in logical pixels; nil without a picture.
        var naturalSize: (width: Double, height: Double)? { fades.newest?.naturalSize(scale: usableScale) }
        var newestFit: ContentFit { fades.newest?.fit ?? contentFit }
    }

    extension ImagePaintable {
        /// Draws the visible pictures into a `GtkSnapshot *`.
        func draw(into snapshot: OpaquePointer, width: Double, height: Double) {
            draw(fades.steps[...], into: snapshot, (width, height))
        }

        private func draw(
            _ steps: ArraySlice<FadeSequence<ShownPicture>.Step>, into snapshot: OpaquePointer,
            _ area: (width: Double, height: Double)
        ) {
            guard let top = steps.last else { return }
            let isCovering = top.progress >= 1
            if !isCovering {
                gtk_snapshot_push_cross_fade(snapshot, top.progress)
                draw(steps.dropLast(), into: snapshot, area)
                gtk_snapshot_pop(snapshot)
            }
            top.picture?.draw(into: snapshot, area: area, scale: usableScale, fit: contentFit)
            if !isCovering { gtk_snapshot_pop(snapshot) }
        }

        private var usableScale: Double { scale > 0 && scale.isFinite ? min(max(scale, 0.01), 100) : 1 }
        private var displaySize: PixelSize? { fades.newest?.texture.displaySize }
        private func invalidateContents() { gdk_paintable_invalidate_contents(OpaquePointer(object)) }
        private func invalidateSize() { gdk_paintable_invalidate_size(OpaquePointer(object)) }

        private func moveTicks(from old: (any FrameTicks)?) {
            if let tick { old?.removeTick(tick) }
            tick = nil
            startTicks()
            completeIfDone()
        }

        private func startTicks() {
            // The source of frames may have been released in the middle of a fade.
            guard fades.isFading else { return }
            guard wi_animations_are_enabled() != 0 else { return fades.finish() }
            guard tick == nil || ticks == nil else { return }
            tick = ticks?.addTick { [weak self] in self?.advance($0) }
            if tick == nil { fades.finish() }
        }

        private func advance(_ frame: FrameTick) {
            switch frame {
            case .frame(let time): wi_animations_are_enabled() != 0 ? fades.advance(to: time) : fades.finish()
            case .ended:
                tick = nil
                fades.finish()
            }
            invalidateContents()
            completeIfDone()
        }

        private func completeIfDone() {
            guard !fades.isFading else { return }
            if let tick { ticks?.removeTick(tick) }
            tick = nil
            let completion = self.completion
            self.completion = nil
            completion?()
        }

        private static let callbacks = wi_paintable_callbacks(
            snapshot: { context, snapshot, width, height in
                onMainActor(context, snapshot) { (paintable: ImagePaintable, snapshot) in
                    paintable.draw(into: OpaquePointer(snapshot), width: width, height: height)
                }
            },
            width: { context in
                onMainActor(context, ()) { (paintable: ImagePaintable, _) in
                    paintable.naturalSize.map { Int32(clamping: max(1, Int($0.width.rounded()))) } ?? 0
                }
            },
            height: { context in
                onMainActor(context, ()) { (paintable: ImagePaintable, _) in
                    paintable.naturalSize.map { Int32(clamping: max(1, Int($0.height.rounded()))) } ?? 0
                }
            },
            aspect: { context in
                onMainActor(context, ()) { (paintable: ImagePaintable, _) in
                    paintable.naturalSize.map { $0.width / $0.height } ?? 0
                }
            })
    }
#endif
