#if GTK
    internal import CShimGTK
    internal import CSysGTK

    /// A widget that shows pictures, and reports its size in pixels and whether it is visible.
    ///
    ///     let box = ImageBox()
    ///     box.onResize = { size in load(size.pixels) }
    ///     gtk_window_set_child(window, box.widget.pointer.assumingMemoryBound(to: GtkWidget.self))
    ///
    /// The box lives as long as Swift retains it or it is part of GTK's widget tree. Its closures should capture it
    /// weakly.
    @MainActor public final class ImageBox {
        /// The paintable that the box shows. Its ``ImagePaintable/ticks`` are the box.
        public let paintable: ImagePaintable
        /// Called when the box gets a size, and when its size or its scale factor changes. It is called during GTK's
        /// layout: it must not change ``fixedSize``.
        public var onResize: (@MainActor (BoxSize) -> Void)?
        /// Called with true when the box begins to be drawn (in GTK's term, is mapped), and with false when it is no
        /// longer drawn, also because its window is minimised. In a list that scrolls, the cells in view are drawn, after
        /// each layout.
        public var onVisibilityChange: (@MainActor (Bool) -> Void)?
        /// The last allocated size in which both sides were above 0; nil before that.
        public private(set) var size: BoxSize?
        /// The last size that GTK allocated, in which a side may be 0; nil before the first layout.
        private(set) var allocation: BoxSize?
        /// The object that is notified before the closures above are called.
        weak var owner: (any ImageBoxOwner)?
        /// Whether the box is drawn.
        public private(set) var isVisible = false
        /// The size that the box requests, in logical pixels. Default nil: the natural size of its picture, or less.
        public var fixedSize: (width: Int, height: Int)? {
            didSet {
                let isSame = fixedSize?.width == oldValue?.width && fixedSize?.height == oldValue?.height
                if !isSame { wantedSizeChanged() }
            }
        }
        /// The text that a screen reader reads for the picture. Default nil.
        public var label: String? { didSet { if label != oldValue { wi_set_label(object, label) } } }

        // Set in `init`, after the other properties, because it needs the address of this object.
        private var object: UnsafeMutableRawPointer!
        private var connections: [SignalConnection?] = []
        /// Nil while the box is not mapped.
        private var window: WindowSight?
        private var tickBodies: [Int: @MainActor (FrameTick) -> Void] = [:]
        private var lastTick = 0

        /// - Parameter paintable: the paintable to show. Other widgets may show it as well, but this box becomes its
        ///   ``ImagePaintable/ticks``.
        public init(_ paintable: ImagePaintable = ImagePaintable()) {
            self.paintable = paintable
            let context = Unmanaged.passUnretained(self).toOpaque()
            object = wi_box_new(Self.callbacks, context)
            ObjectTie.tie(object, to: context)
            wi_box_set_height_for_width(object, 1)
            paintable.ticks = self
            connections = [
                SignalConnection.connect(paintable.pointer, "invalidate-contents") { [weak self] in self?.redraw() },
                SignalConnection.connect(paintable.pointer, "invalidate-size") { [weak self] in
                    if let self, self.fixedSize == nil { self.wantedSizeChanged() }
                },
            ]
        }

        isolated deinit {
            for connection in connections { connection?.disconnect() }
            wi_box_detach(object)
            wi_untie(object)
        }

        /// The box as a widget.
        public var widget: GTKWidget { GTKWidget(object) }
        /// The `GtkWidget *`, valid as long as the box exists.
        public var pointer: UnsafeMutableRawPointer { object }

        private func redraw() { gtk_widget_queue_draw(object.assumingMemoryBound(to: GtkWidget.self)) }
        private func wantedSizeChanged() { wi_box_set_height_for_width(object, fixedSize == nil ? 1 : 0) }
    }

    /// The owner of a box. It uses no closures of the box, so that the program can set them.
    @MainActor protocol ImageBoxOwner: AnyObject {
        /// Called when GTK has laid the box out with another size or scale factor, during the layout. A side may be 0.
        func boxWasLaidOut(_ allocation: BoxSize)
        func boxVisibilityChanged(to isVisible: Bool)
    }

    extension ImageBox: FrameTicks {
        /// Calls a closure before each frame while the box is visible.
        ///
        /// - Returns: an identifier of the closure; nil if the box is not visible.
        public func addTick(_ body: @escaping @MainActor (FrameTick) -> Void) -> TickID? {
            guard isVisible else { return nil }
            lastTick += 1
            tickBodies[lastTick] = body
            wi_box_start_ticks(object)
            return TickID(lastTick)
        }

        public func removeTick(_ id: TickID) {
            tickBodies[id.number] = nil
            if tickBodies.isEmpty { wi_box_stop_ticks(object) }
        }

        private func tick(at time: Duration) {
            for number in tickBodies.keys.sorted() { tickBodies[number]?(.frame(time)) }
        }

        /// Ends all ticks, since GTK would continue the ticks of widgets that are not drawn.
        private func endTicks() {
            wi_box_stop_ticks(object)
            let ended = tickBodies.sorted { $0.key < $1.key }
            tickBodies = [:]
            for (_, body) in ended { body(.ended) }
        }
    }

    extension ImageBox {
        private func allocated(_ allocation: BoxSize) {
            guard allocation != self.allocation else { return }
            self.allocation = allocation
            let isNew = allocation.width > 0 && allocation.height > 0 && allocation != size
            if isNew { size = allocation }
            owner?.boxWasLaidOut(allocation)
            if isNew { onResize?(allocation) }
        }

        private func mapped(_ isMapped: Bool) {
            window = isMapped ? WindowSight(of: widget.cWidget) { [weak self] in self?.visibilityChanged() } : nil
            visibilityChanged()
        }

        private func visibilityChanged() {
            let isVisible = window?.isSeen ?? false
            guard isVisible != self.isVisible else { return }
            self.isVisible = isVisible
            if !isVisible { endTicks() }
            owner?.boxVisibilityChanged(to: isVisible)
            onVisibilityChange?(isVisible)
        }

        /// The size that the box requests for its picture if GTK allocates a width.
        func naturalSize(inWidth width: Int) -> (width: Int, height: Int) {
            (measured(isVertical: false, other: nil).natural, measured(isVertical: true, other: width).natural)
        }

        /// The minimum and the natural length of a side, if the other one has the length `other`.
        private func measured(isVertical: Bool, other: Int?) -> (minimum: Int, natural: Int) {
            if let fixedSize {
                let side = max(0, isVertical ? fixedSize.height : fixedSize.width)
                return (side, side)
            }
            guard let natural = paintable.naturalSize else { return (0, 0) }
            var side = isVertical ? natural.height : natural.width
            if let other {
                let following = Double(other) * side / (isVertical ? natural.width : natural.height)
                switch paintable.newestFit {
                case .none: break
                case .scaleDown: side = min(side, following)
                case .fill, .contain, .cover: side = following
                }
            }
            return (0, Int(min(side.rounded(), Double(Int16.max))))
        }

        private static let callbacks = wi_box_callbacks(
            resize: { context, width, height, scale in
                onMainActor(context, ()) { (box: ImageBox, _) in
                    box.allocated(BoxSize(width: Int(width), height: Int(height), scale: Int(scale)))
                }
            },
            visibility: { context, isMapped in
                onMainActor(context, ()) { (box: ImageBox, _) in box.mapped(isMapped != 0) }
            },
            snapshot: { context, snapshot, width, height in
                onMainActor(context, snapshot) { (box: ImageBox, snapshot) in
                    box.paintable.draw(into: OpaquePointer(snapshot), width: width, height: height)
                }
            },
            measure: { context, isVertical, size, minimum, natural in
                let result = onMainActor(context, ()) { (box: ImageBox, _) in
                    box.measured(isVertical: isVertical != 0, other: size < 0 ? nil : Int(size))
                }
                minimum.pointee = Int32(clamping: result.minimum)
                natural.pointee = Int32(clamping: result.natural)
            },
            tick: { context, time in
                onMainActor(context, ()) { (box: ImageBox, _) in box.tick(at: .microseconds(time)) }
            })
    }
#endif
