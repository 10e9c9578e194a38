#if GTK
    internal import CSysGTK
    internal import WebImage
    internal import WebImageCore

    /// Reports the size and the scale factor of a widget to its target after each layout, while the widget is mapped.
    /// GTK has no signal for the size of a widget, but its frame clock reports each layout of the window.
    @MainActor final class WidgetSizes {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private weak var target: PaintableTarget?
        private var layouts: SignalConnection?
        /// Whether the widget was laid out since it was mapped.
        private var isLaidOut = false
        private var isDue = false
        private var place = PlaceSize()
        /// The size for which pictures are loaded, in device pixels.
        private var loadedSize = PixelSize(width: 0, height: 0)

        /// - Parameters:
        ///   - widget: a `GtkWidget *`, which outlives this object.
        ///   - target: the target that shows its pictures on the widget.
        init(_ widget: UnsafeMutableRawPointer, _ target: PaintableTarget) {
            self.widget = widget.assumingMemoryBound(to: GtkWidget.self)
            self.target = target
        }

        /// Begins to observe layouts; called when the widget is mapped.
        func follow() {
            end()
            isLaidOut = false
            if let clock = gtk_widget_get_frame_clock(widget) {
                layouts = SignalConnection.connect(UnsafeMutableRawPointer(clock), "layout") { [weak self] in
                    self?.isLaidOut = true
                    self?.updatePlace()
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

        /// Reports the size after the layout: a target that shows something else during it would restart the layout.
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
            if !isLaidOut { updatePlace() }
            let allocation = allocation
            target?.paintable.scale = Double(allocation.scale)
            guard isLaidOut || allocation.width > 0 || allocation.height > 0 else { return }
            target?.slots.resize(toSides: loadedSize)
        }

        /// Updates the place before anything changes on which the widget's measured size depends.
        private func updatePlace() {
            let allocation = allocation
            let wanted = (
                width: wantedLength(GTK_ORIENTATION_HORIZONTAL, -1),
                height: wantedLength(GTK_ORIENTATION_VERTICAL, allocation.width)
            )
            let isOther = place.update(to: allocation, wanted: wanted, isLoaded: target?.state.image != nil)
            if isOther { loadedSize = GTKWidget(UnsafeMutableRawPointer(widget)).loadedSize(of: place.size) }
        }

        private var allocation: BoxSize {
            BoxSize(
                width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget)),
                scale: Int(gtk_widget_get_scale_factor(widget)))
        }

        /// The length of a side that the picture requests; 0 if the length does not depend on it. A `GtkPicture`
        /// without a picture also requests some pixels.
        private func wantedLength(_ orientation: GtkOrientation, _ otherLength: Int) -> Int {
            var (minimum, natural): (Int32, Int32) = (0, 0)
            gtk_widget_measure(widget, orientation, Int32(otherLength), &minimum, &natural, nil, nil)
            return natural > minimum ? Int(natural) : 0
        }
    }
#endif
