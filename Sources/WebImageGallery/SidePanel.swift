#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The panel with the current figures of the caches and the network, and with the trace of the picture under the
    /// pointer.
    ///
    /// The figures are read at most four times a second, and only while something changes. Otherwise the panel takes no
    /// time.
    @MainActor final class SidePanel {
        let widget: Widget
        /// The number of times that the figures were read.
        private(set) var refreshCount = 0

        private let manager: ImageManager
        private let book: PictureBook
        private let grid = Make.named(gtk_grid_new(), [])
        private let name = Make.label("Point at a picture", "gallery-name")
        private let trace = Make.named(gtk_label_new(""), ["trace"])
        private let clock = GTKFrameClock()
        private var pace = RefreshPace()
        private var figures: Figures?
        private var values: [Widget] = []
        private var item: GalleryItem?
        private var shownTrace: String?

        init(manager: ImageManager, book: PictureBook) {
            self.manager = manager
            self.book = book
            let content = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 6, "gallery-panel")
            gtk_widget_set_size_request(content, 330, -1)
            gtk_box_append(content.box, Make.label("Caches and network", "heading"))
            gtk_grid_set_column_spacing(grid.raw.assumingMemoryBound(to: GtkGrid.self), 12)
            gtk_grid_set_row_spacing(grid.raw.assumingMemoryBound(to: GtkGrid.self), 3)
            gtk_box_append(content.box, grid)
            gtk_box_append(content.box, Make.label("The way of a picture", "heading"))
            gtk_box_append(content.box, name)
            Self.keepNarrow(name)
            Self.keepNarrow(trace)
            gtk_label_set_xalign(trace.opaque, 0)
            gtk_label_set_yalign(trace.opaque, 0)
            gtk_label_set_selectable(trace.opaque, 1)
            gtk_widget_set_focusable(trace, 0)
            let scrolled = Make.named(gtk_scrolled_window_new(), [])
            gtk_scrolled_window_set_child(scrolled.opaque, trace)
            gtk_widget_set_vexpand(scrolled, 1)
            gtk_scrolled_window_set_policy(scrolled.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            gtk_label_set_wrap(trace.opaque, 1)
            gtk_label_set_wrap_mode(trace.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_box_append(content.box, scrolled)
            widget = content
            // Otherwise the labels of the values would make the panel take all the space.
            gtk_widget_set_hexpand(widget, 0)
            refresh()
        }

        /// Prevents long texts from making the panel wider, which would change the size of the grid's cells.
        private static func keepNarrow(_ label: Widget) {
            gtk_label_set_width_chars(label.opaque, 10)
            gtk_label_set_max_width_chars(label.opaque, 10)
        }

        /// Notes that something has happened that may change the figures.
        func note() {
            guard widget.isVisible, let time = pace.note(now: clock.now) else { return }
            clock.wake(at: time) { [weak self] in self?.refresh() }
        }

        /// Shows how a picture was loaded.
        func look(at item: GalleryItem) {
            self.item = item
            showTrace()
        }

        private func refresh() {
            refreshCount += 1
            let new = Figures(manager)
            let hasChanged = new != figures
            if hasChanged { show(new) }
            showTrace()
            guard let next = pace.refreshed(now: clock.now, hasChanged: hasChanged && widget.isVisible) else { return }
            clock.wake(at: next) { [weak self] in self?.refresh() }
        }

        private func show(_ figures: Figures) {
            if values.count != figures.lines.count { makeRows(figures) }
            for (label, line) in zip(values, figures.lines) { label.setText(line.value) }
            self.figures = figures
        }

        private func makeRows(_ figures: Figures) {
            let table = grid.raw.assumingMemoryBound(to: GtkGrid.self)
            for (row, line) in figures.lines.enumerated() {
                gtk_grid_attach(table, Make.label(line.name, "gallery-dim"), 0, Int32(row), 1, 1)
                let value = Make.label("", "figure")
                gtk_widget_set_hexpand(value, 1)
                Self.keepNarrow(value)
                gtk_grid_attach(table, value, 1, Int32(row), 1, 1)
                values.append(value)
            }
        }

        private func text(of item: GalleryItem) -> String {
            if let error = book.failure(of: item.url) { return "It could not be loaded:\n\(error.message)" }
            return book[item.url].map { TraceText.text($0.trace) } ?? "It was not loaded yet."
        }

        private func showTrace() {
            guard let item else { return }
            let text = text(of: item)
            guard text != shownTrace else { return }
            shownTrace = text
            name.setText(item.name)
            trace.setText(text)
        }
    }
#endif
