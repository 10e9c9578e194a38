#if GTK
    import CShimGTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// A widget that draws pictures at given positions, one above the other.
    @MainActor final class ZoomCanvas {
        /// A picture and its position, in pixels of the screen.
        struct Layer {
            let paintable: UnsafeMutableRawPointer
            let place: PixelRect
        }

        /// Returns the layers to draw, the lowest first.
        var layers: (@MainActor () -> [Layer])?
        /// Called with the size of the canvas in pixels of the screen.
        var onResize: (@MainActor (PixelSize) -> Void)?
        /// Called with true when the canvas becomes visible, and with false when it is no longer visible.
        var onVisibilityChange: (@MainActor (Bool) -> Void)?
        /// The number of pixels of the screen along each side of a logical pixel.
        private(set) var scale = 1
        private var isVisible = false
        private var window: WindowSight?

        // Set in `init`, after the other properties, because it needs the address of this object.
        private var object: UnsafeMutableRawPointer!

        init() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            object = wi_box_new(Self.callbacks, context)
            ObjectTie.tie(object, to: context)
        }

        isolated deinit {
            wi_box_detach(object)
            wi_untie(object)
        }

        var widget: Widget { object.assumingMemoryBound(to: GtkWidget.self) }

        func redraw() { gtk_widget_queue_draw(widget) }

        private func draw(into snapshot: OpaquePointer) {
            for layer in layers?() ?? [] {
                let (place, scale) = (layer.place, Double(scale))
                gtk_snapshot_save(snapshot)
                var point = graphene_point_t(x: Float(place.x / scale), y: Float(place.y / scale))
                gtk_snapshot_translate(snapshot, &point)
                gdk_paintable_snapshot(
                    OpaquePointer(layer.paintable), snapshot, place.width / scale, place.height / scale)
                gtk_snapshot_restore(snapshot)
            }
        }

        private func resized(_ width: Int, _ height: Int, scale: Int) {
            self.scale = scale
            onResize?(PixelSize(width: width * scale, height: height * scale))
        }

        private func mapped(_ isMapped: Bool) {
            window = isMapped ? WindowSight(of: widget) { [weak self] in self?.visibilityChanged() } : nil
            visibilityChanged()
        }

        private func visibilityChanged() {
            let isVisible = window?.isSeen ?? false
            guard isVisible != self.isVisible else { return }
            self.isVisible = isVisible
            onVisibilityChange?(isVisible)
        }

        private static let callbacks = wi_box_callbacks(
            resize: { context, width, height, scale in
                onMainActor(context, ()) { (canvas: ZoomCanvas, _) in
                    canvas.resized(Int(width), Int(height), scale: Int(scale))
                }
            },
            visibility: { context, isMapped in
                onMainActor(context, ()) { (canvas: ZoomCanvas, _) in canvas.mapped(isMapped != 0) }
            },
            snapshot: { context, snapshot, _, _ in
                onMainActor(context, snapshot) { (canvas: ZoomCanvas, snapshot) in
                    canvas.draw(into: OpaquePointer(snapshot))
                }
            },
            measure: { _, _, _, minimum, natural in
                minimum.pointee = 0
                natural.pointee = 0
            },
            tick: { _, _ in })
    }
#endif
