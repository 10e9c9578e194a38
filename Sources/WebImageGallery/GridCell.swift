#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The parts of a cell besides its picture: a caption, and the reason if there is no picture.
    @MainActor enum GridCell {
        private static let caption = "caption"

        /// - Parameters:
        ///   - change: called on progress of the cell's load.
        ///   - look: called with the URL of the cell's picture when the pointer enters the cell.
        static func setUp(
            _ view: WebImageView, change: @escaping @MainActor () -> Void, look: @escaping @MainActor (String) -> Void
        ) {
            let widget = view.widget.cWidget
            gtk_widget_add_css_class(widget, "gallery-cell")
            gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
            let label = Make.label("", "gallery-caption")
            gtk_widget_set_name(label, caption)
            gtk_widget_set_valign(label, GTK_ALIGN_END)
            gtk_widget_set_can_target(label, 0)
            gtk_overlay_add_overlay(widget.opaque, label)
            view.onStateChange = { [weak view] state in
                if let view { show(state, on: view) }
                change()
            }
            guard let motion = gtk_event_controller_motion_new() else { return }
            gtk_widget_add_controller(widget, motion)
            SignalConnection.connectObject(UnsafeMutableRawPointer(motion), "notify::contains-pointer") {
                [weak view] _ in
                if gtk_event_controller_motion_contains_pointer(motion) != 0, let url = view?.state.url { look(url) }
            }
        }

        static func bind(_ view: WebImageView, to item: GalleryItem) {
            view.alternativeText = item.name
            label(of: view)?.setText(item.name)
            show(view.state, on: view)
        }

        private static func show(_ state: SlotState, on view: WebImageView) {
            let widget = view.widget.cWidget
            if let error = state.error {
                gtk_widget_add_css_class(widget, "failed")
                gtk_widget_set_tooltip_text(widget, "\(view.alternativeText ?? ""): \(error.message)")
            } else if gtk_widget_has_css_class(widget, "failed") != 0 {
                gtk_widget_remove_css_class(widget, "failed")
                gtk_widget_set_tooltip_text(widget, nil)
            }
        }

        private static func label(of view: WebImageView) -> Widget? {
            var child = gtk_widget_get_last_child(view.widget.cWidget)
            while let widget = child {
                if let name = gtk_widget_get_name(widget), String(cString: name) == caption { return widget }
                child = gtk_widget_get_prev_sibling(widget)
            }
            return nil
        }
    }
#endif
