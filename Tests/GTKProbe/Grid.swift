#if GTK
    import CSysGTK
    import WebImageGTK

    /// A window with a grid of cells.
    @MainActor final class Grid {
        private let window = GTKWidget(gtk_window_new())
        private let grid: GTKWidget
        /// The grid retains it.
        private let list: OpaquePointer?

        init(_ cells: ImageCells, items: Int, width: Int32 = 640, height: Int32 = 480) {
            list = gtk_string_list_new(nil)
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

        /// Removes items, and inserts others in their place.
        func replace(at position: Int, removing removed: Int = 0, inserting inserted: Int = 0) async {
            gtk_string_list_splice(list, UInt32(position), UInt32(removed), nil)
            for number in 0..<inserted {
                var words: [UnsafePointer<CChar>?] = [nil, nil]
                "new \(number)".withCString { word in
                    words[0] = word
                    gtk_string_list_splice(list, UInt32(position), 0, words)
                }
            }
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
