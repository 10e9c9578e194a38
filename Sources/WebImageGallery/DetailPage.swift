#if GTK
    import CShimGTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The page with one picture in the size of the window, and facts about it.
    @MainActor final class DetailPage {
        let widget = Make.box(GTK_ORIENTATION_VERTICAL)
        let view: ZoomView
        private(set) var item: GalleryItem?
        /// Called when the picture or the facts change.
        var onChange: (@MainActor () -> Void)?

        private let book: PictureBook
        private let gestures: ZoomGestures
        private let name = Make.label("", "gallery-name")
        private let facts = Make.label("", "gallery-dim")
        private let times = Make.label("", "gallery-dim")
        private let zoom = Make.label("", alignment: 1, "figure")
        private let trouble = Make.label("", alignment: 0.5, "gallery-trouble")
        private let spinner = Make.named(gtk_spinner_new(), [])

        init(manager: ImageManager, book: PictureBook) {
            self.book = book
            view = ZoomView(manager: manager)
            gestures = ZoomGestures(on: view)
            let overlay = Make.named(gtk_overlay_new(), ["gallery-detail"])
            gtk_widget_set_vexpand(overlay, 1)
            gtk_widget_set_hexpand(overlay, 1)
            gtk_overlay_set_child(overlay.opaque, view.canvas.widget)
            gtk_overlay_add_overlay(overlay.opaque, trouble)
            gtk_label_set_wrap(trouble.opaque, 1)
            gtk_overlay_add_overlay(overlay.opaque, spinner)
            gtk_widget_set_halign(spinner, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(spinner, GTK_ALIGN_CENTER)
            gtk_widget_set_size_request(spinner, 32, 32)
            for over in [trouble, spinner] { gtk_widget_set_can_target(over, 0) }
            gtk_box_append(widget.box, overlay)
            gtk_box_append(widget.box, bar())
            view.onChange = { [weak self] in self?.changed() }
        }

        private func bar() -> Widget {
            let bar = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, "gallery-bar")
            let texts = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 2)
            gtk_widget_set_hexpand(texts, 1)
            gtk_box_append(texts.box, name)
            gtk_box_append(texts.box, facts)
            gtk_box_append(texts.box, times)
            for text in [name, facts, times] { gtk_label_set_width_chars(text.opaque, 20) }
            gtk_box_append(bar.box, texts)
            gtk_box_append(
                bar.box,
                Make.button("zoom-out-symbolic", "Smaller (-)") { [weak self] in
                    self?.view.zoom(by: 1 / Viewport.step)
                })
            gtk_label_set_width_chars(zoom.opaque, 7)
            gtk_box_append(bar.box, zoom)
            gtk_box_append(
                bar.box,
                Make.button("zoom-in-symbolic", "Larger (+)") { [weak self] in self?.view.zoom(by: Viewport.step) })
            gtk_box_append(
                bar.box,
                Make.button("zoom-fit-best-symbolic", "As large as the window (0)") { [weak self] in
                    self?.view.fit()
                })
            gtk_box_append(
                bar.box,
                Make.button("zoom-original-symbolic", "Pixel by pixel (1)") { [weak self] in self?.view.setZoom(1) })
            return bar
        }

        /// Shows a picture; nil shows none and releases the last one.
        func show(_ item: GalleryItem?) {
            self.item = item
            name.setText(item?.name ?? "")
            gtk_widget_set_tooltip_text(name, item?.url)
            wi_set_label(view.canvas.widget, item?.name)
            view.show(item?.request)
        }

        private func changed() {
            let isWaiting = view.isLoading && view.whole == nil
            spinner.isVisible = isWaiting
            gtk_spinner_set_spinning(spinner.opaque, isWaiting ? 1 : 0)
            trouble.isVisible = view.failure != nil
            trouble.setText(view.failure?.message ?? "")
            zoom.setText(view.viewport.map { FactText.percent($0.zoom) } ?? "")
            facts.setText(
                item.flatMap { item in view.whole.map { FactText.line($0, book[item.url]) } } ?? "loading …")
            times.setText(view.whole.map { FactText.times($0) } ?? "")
            if view.failure != nil { facts.setText("") }
            onChange?()
        }
    }
#endif
