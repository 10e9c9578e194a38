#if GTK
    internal import CSysGTK
    public import WebImage
    internal import WebImageCore

    extension GTKWidget {
        /// Returns a target that shows loaded pictures in one of GTK's widgets: in a `GtkPicture` or `GtkImage` itself,
        /// or in a child of a `GtkButton`.
        ///
        ///     let icon = GTKWidget(gtk_image_new())
        ///     icon.webImage(manager)?.load("https://example.com/icon.png")
        ///
        /// The target lives as long as the widget; a second call returns the same one. Its loads have a lower priority
        /// while the widget is not visible. With ``/WebImage/SlotOptions/fitsTarget`` a picture is decoded to the size
        /// that the widget has when it becomes visible. This needs a widget whose size does not depend on the picture.
        ///
        /// - Parameters:
        ///   - manager: loads the pictures. Used only in the first call.
        ///   - options: the options of loads that do not set their own. Used only in the first call.
        /// - Returns: nil for widgets of other kinds.
        public func webImage(_ manager: ImageManager, options: SlotOptions = SlotOptions()) -> PaintableTarget? {
            if let target = AttachedObjects.find(PaintableTarget.self, of: pointer, as: Self.targetName) {
                return target
            }
            let paintable = ImagePaintable()
            guard place(paintable) else { return nil }
            let target = PaintableTarget(paintable, manager: manager, options: options)
            let ticks = WidgetTicks(pointer)
            paintable.ticks = ticks
            AttachedObjects.attach(target, to: pointer, as: Self.targetName)
            AttachedObjects.attach(ticks, to: pointer, as: "wi-ticks")
            target.setVisible(gtk_widget_get_mapped(cWidget) != 0)
            onSignal("map") { [weak target, weak ticks] in
                target?.setVisible(true)
                // It is laid out before it is drawn.
                ticks?.tellSize(to: target)
            }
            onSignal("unmap") { [weak target, weak ticks] in
                ticks?.end()
                target?.setVisible(false)
            }
            return target
        }

        private static let targetName = "wi-target"

        /// Shows a paintable on the widget; false where it has no place for one.
        private func place(_ paintable: ImagePaintable) -> Bool {
            let picture = OpaquePointer(paintable.pointer)
            if isA(gtk_picture_get_type()) {
                gtk_picture_set_paintable(OpaquePointer(pointer), picture)
            } else if isA(gtk_image_get_type()) {
                gtk_image_set_from_paintable(OpaquePointer(pointer), picture)
            } else if isA(gtk_button_get_type()) {
                gtk_button_set_child(
                    pointer.assumingMemoryBound(to: GtkButton.self), gtk_picture_new_for_paintable(picture))
            } else {
                return false
            }
            return true
        }

        private func isA(_ type: GType) -> Bool {
            g_type_check_instance_is_a(pointer.assumingMemoryBound(to: GTypeInstance.self), type) != 0
        }
    }

    /// The frames of a widget of GTK's, which outlives this.
    @MainActor private final class WidgetTicks: FrameTicks {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private var bodies: [Int: @MainActor (FrameTick) -> Void] = [:]
        /// Those of ``tellSize(to:)``, which come once.
        private var measuring: Set<Int> = []
        private var last = 0
        private var callback: UInt32 = 0

        init(_ widget: UnsafeMutableRawPointer) { self.widget = widget.assumingMemoryBound(to: GtkWidget.self) }

        func addTick(_ body: @escaping @MainActor (FrameTick) -> Void) -> TickID? {
            guard gtk_widget_get_mapped(widget) != 0 else { return nil }
            last += 1
            bodies[last] = body
            if callback == 0 {
                callback = gtk_widget_add_tick_callback(
                    widget,
                    { _, clock, context in
                        guard let context else { return 0 }
                        let time = gdk_frame_clock_get_frame_time(clock)
                        return onMainActor(context, time) { (ticks: WidgetTicks, time) in
                            ticks.tick(.microseconds(time))
                        }
                    }, Unmanaged.passUnretained(self).toOpaque(), nil)
            }
            return TickID(last)
        }

        func removeTick(_ id: TickID) { bodies[id.number] = nil }

        /// - Returns: 0 when there are to be no more.
        private func tick(_ time: Duration) -> Int32 {
            for number in bodies.keys.sorted() { bodies[number]?(.frame(time)) }
            if bodies.isEmpty { callback = 0 }
            return bodies.isEmpty ? 0 : 1
        }

        /// GTK goes on with ticks of widgets that are not drawn.
        func end() {
            if callback != 0 { gtk_widget_remove_tick_callback(widget, callback) }
            callback = 0
            let ended = bodies.sorted { $0.key < $1.key }
            bodies = [:]
            for (_, body) in ended { body(.ended) }
        }

        /// Tells the size with the next frame.
        func tellSize(to target: PaintableTarget?) {
            let tick = addTick { [weak self, weak target] _ in
                guard let self else { return }
                for number in measuring { bodies[number] = nil }
                measuring = []
                let scale = Int(gtk_widget_get_scale_factor(widget))
                target?.slots.resize(
                    to: PixelSize(
                        width: Int(gtk_widget_get_width(widget)) * scale,
                        height: Int(gtk_widget_get_height(widget)) * scale))
            }
            if let tick { measuring.insert(tick.number) }
        }
    }
#endif
