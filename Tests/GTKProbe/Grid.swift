#if GTK
    import CSysGTK
    import WebImageGTK

    /// A window with a grid of cells.
    @MainActor final class Grid {
        private let window = GTKWidget(gtk_window_new())
        private let grid: GTKWidget

        init(_ cells: ImageCells, items: Int, width: Int32 = 640, height: Int32 = 480) {
            let list = gtk_string_list_new(nil)
            for number in 0..<items { gtk_string_list_append(list, "\(number)") }
            let selection = gtk_no_selection_new(list)
            grid = GTKWidget(gtk_grid_view_new(selection, OpaquePointer(cells.takeFactory())))
            gtk_grid_view_set_max_columns(OpaquePointer(grid.pointer), 10)
            let scrolled = gtk_scrolled_window_new()
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid.cWidget)
            gtk_window_set_default_size(window.cWindow, width, height)
            gtk_window_set_child(window.cWindow, scrolled)
        }

        func show() async {
            gtk_window_present(window.cWindow)
            await frames()
        }

        func scroll(to position: Int) async {
            gtk_widget_activate_action_variant(
                grid.cWidget, "list.scroll-to-item", g_variant_new_uint32(UInt32(position)))
            await frames()
        }

        /// Waits for a layout and the changes that follow from it.
        private func frames() async { for _ in 0..<3 { await window.nextFrame() } }

        func close() { gtk_window_destroy(window.cWindow) }
    }

    extension Stage {
        /// The button that a view currently shows, or nil.
        func button(in view: GTKWidget) -> UnsafeMutablePointer<GtkWidget>? {
            var child = gtk_widget_get_first_child(view.cWidget)
            while let widget = child {
                let isButton = g_type_check_instance_is_a(
                    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self), gtk_button_get_type())
                if isButton != 0, gtk_widget_get_visible(widget) != 0 { return widget }
                child = gtk_widget_get_next_sibling(widget)
            }
            return nil
        }
    }
#endif
