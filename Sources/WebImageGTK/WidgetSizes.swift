#if GTK
    internal import CSysGTK
    internal import WebImage
    internal import WebImageCore

    /// Tells a target the size and scale factor of its widget after each layout while the widget is mapped. GTK has no signal for the size of
    /// a widget; its frame clock tells of each layout of the window.
    @MainActor final class WidgetSizes {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private weak var target: PaintableTarget?
        private var layouts: SignalConnection?
        /// Whether the widget was laid out since it was mapped.
        private var isLaidOut = false
        private var isDue = false

        /// - Parameters:
        ///   - widget: a `GtkWidget *`, which outlives this object.
        ///   - target: shows its pictures on the widget.
        init(_ widget: UnsafeMutableRawPointer, _ target: PaintableTarget) {
            self.widget = widget.assumingMemoryBound(to: GtkWidget.self)
            self.target = target
        }

        /// Begins when the widget is mapped.
        func follow() {
            end()
            isLaidOut = false
            if let clock = gtk_widget_get_frame_clock(widget) {
                layouts = SignalConnection.connect(UnsafeMutableRawPointer(clock), "layout") { [weak self] in
                    self?.isLaidOut = true
                    self?.tellSoon()
                }
            }
            // A widget that is mapped in the middle of a layout gets no signal of that layout.
            tellSoon()
        }

        func end() {
            layouts?.disconnect()
            layouts = nil
        }

        /// Not now: a target that shows something else would have GTK's layout begin anew.
        private func tellSoon() {
            guard !isDue else { return }
            isDue = true
            Task { @MainActor [weak self] in
                self?.isDue = false
                self?.tell()
            }
        }

        private func tell() {
            guard layouts != nil else { return }
            let size = BoxSize(
                width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget)),
                scale: Int(gtk_widget_get_scale_factor(widget)))
            target?.paintable.scale = Double(size.scale)
            guard isLaidOut || size.width > 0 || size.height > 0 else { return }
            target?.slots.resize(toSides: GTKWidget(UnsafeMutableRawPointer(widget)).loadedSize(of: size))
        }
    }
#endif
