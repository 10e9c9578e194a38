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
        /// of the widget once that was laid out, and again when the widget becomes larger. A side that has no length
        /// without a picture follows from the other one. ``ImagePaintable/scale`` is the scale factor of the widget.
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
            paintable.scale = Double(gtk_widget_get_scale_factor(cWidget))
            guard place(paintable) else { return nil }
            let target = PaintableTarget(paintable, manager: manager, options: options)
            let ticks = WidgetTicks(pointer)
            paintable.ticks = ticks
            AttachedObjects.attach(target, to: pointer, as: Self.targetName)
            AttachedObjects.attach(ticks, to: pointer, as: "wi-ticks")
            let sizes = WidgetSizes(pointer, target)
            AttachedObjects.attach(sizes, to: pointer, as: "wi-sizes")
            let (widget, window) = (cWidget, WindowOfTarget(target))
            let isMapped = gtk_widget_get_mapped(widget) != 0
            window.update(isMapped ? widget : nil)
            if isMapped { sizes.follow() }
            onSignal("map") { [weak sizes] in
                window.update(widget)
                sizes?.follow()
            }
            onSignal("unmap") { [weak ticks, weak sizes] in
                sizes?.end()
                ticks?.end()
                window.update(nil)
            }
            return target
        }

        private static let targetName = "wi-target"

        /// Shows a paintable on the widget; returns false for kinds of widgets that cannot show one.
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

    /// Reports to a target whether its widget is visible.
    @MainActor private final class WindowOfTarget {
        private weak var target: PaintableTarget?
        private var window: WindowSight?

        init(_ target: PaintableTarget) { self.target = target }

        /// - Parameter widget: the widget if it is mapped, otherwise nil.
        func update(_ widget: UnsafeMutablePointer<GtkWidget>?) {
            window = widget.map { WindowSight(of: $0) { [weak self] in self?.tell() } }
            tell()
        }

        private func tell() { target?.setVisible(window?.isSeen ?? false) }
    }

    /// The frames of one of GTK's widgets, which outlives this object.
    @MainActor private final class WidgetTicks: FrameTicks {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private var bodies: [Int: @MainActor (FrameTick) -> Void] = [:]
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

        /// - Returns: 0 to end the ticks.
        private func tick(_ time: Duration) -> Int32 {
            for number in bodies.keys.sorted() { bodies[number]?(.frame(time)) }
            if bodies.isEmpty { callback = 0 }
            return bodies.isEmpty ? 0 : 1
        }

        /// Ends the ticks, since GTK would continue the ticks of widgets that are not drawn.
        func end() {
            if callback != 0 { gtk_widget_remove_tick_callback(widget, callback) }
            callback = 0
            let ended = bodies.sorted { $0.key < $1.key }
            bodies = [:]
            for (_, body) in ended { body(.ended) }
        }
    }
#endif
