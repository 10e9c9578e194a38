#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The pictures as a grid of cells.
    @MainActor final class GridPage {
        /// The size that a cell requests, in logical pixels.
        static let cell = (width: 160, height: 128)

        /// The grid, or the text that replaces it if the search finds nothing.
        let widget: Widget
        let cells: ImageCells
        /// Called when a picture is opened, with its position.
        var onOpen: (@MainActor (Int) -> Void)?
        /// Called with the item under the pointer, or the one that was selected by keys.
        var onLook: (@MainActor (GalleryItem) -> Void)?
        /// Called on progress of a cell's load.
        var onChange: (@MainActor () -> Void)?
        private(set) var shown: ShownItems

        private let grid: Widget
        private let scrolled: Widget
        private let selection: OpaquePointer
        private let list: OpaquePointer
        private let nothing = Make.label("", alignment: 0.5, "gallery-empty")

        init(_ items: [GalleryItem], manager: ImageManager, prefetcher: ImagePrefetcher) {
            shown = ShownItems(items)
            let source = ItemSource()
            cells = ImageCells(
                manager: manager, width: Self.cell.width, height: Self.cell.height, prefetcher: prefetcher,
                count: { source.page?.shown.count ?? 0 }, request: { source.page?.shown[$0]?.request })
            list = gtk_string_list_new(nil)
            selection = gtk_single_selection_new(list)
            gtk_single_selection_set_autoselect(selection, 0)
            gtk_single_selection_set_can_unselect(selection, 1)
            grid = Make.named(gtk_grid_view_new(selection, OpaquePointer(cells.takeFactory())), ["gallery-grid"])
            gtk_grid_view_set_max_columns(grid.opaque, 8)
            gtk_grid_view_set_min_columns(grid.opaque, 2)
            scrolled = Make.named(gtk_scrolled_window_new(), [])
            gtk_scrolled_window_set_policy(scrolled.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            gtk_scrolled_window_set_child(scrolled.opaque, grid)
            widget = Make.named(gtk_overlay_new(), [])
            gtk_overlay_set_child(widget.opaque, scrolled)
            gtk_overlay_add_overlay(widget.opaque, nothing)
            gtk_widget_set_can_target(nothing, 0)
            nothing.isVisible = false
            source.page = self
            connect()
            fill(from: 0)
        }

        private func connect() {
            cells.onSetup = { [weak self] view in
                GridCell.setUp(view) {
                    self?.onChange?()
                } look: { url in
                    self?.look(at: url)
                }
            }
            cells.onBind = { [weak self] view, position in
                if let item = self?.shown[position] { GridCell.bind(view, to: item) }
            }
            SignalConnection.connectPosition(grid.raw, "activate") { [weak self] in self?.onOpen?($0) }
            SignalConnection.connectObject(UnsafeMutableRawPointer(selection), "notify::selected") { [weak self] _ in
                if let self, let item = shown[selected ?? -1] { onLook?(item) }
            }
        }

        private func look(at url: String) {
            if let item = cells.visible.keys.lazy.compactMap({ self.shown[$0] }).first(where: { $0.url == url }) {
                onLook?(item)
            }
        }

        // MARK: - What is shown

        /// Shows the items whose name or URL contains the words of a query.
        func search(_ query: String) {
            let before = shown.count
            guard shown.search(query) else { return }
            fill(from: before)
            // The same positions have other pictures now.
            cells.reload()
            nothing.setText("No picture is called “\(query)”")
            nothing.isVisible = shown.count == 0
            if shown.count > 0 { scroll(to: 0) }
            onChange?()
        }

        /// Replaces the rows of the list, of which there were `before`. Rows need no text, because their position
        /// determines what they show.
        private func fill(from before: Int) {
            let rows = [String](repeating: "", count: shown.count)
            withCStrings(rows) { gtk_string_list_splice(list, 0, guint(before), $0) }
        }

        private func withCStrings(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Void) {
            "".withCString { empty in
                var pointers = [UnsafePointer<CChar>?](repeating: empty, count: texts.count)
                pointers.append(nil)
                pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
                // The array has at least the null pointer that ends it.
            }
        }

        // MARK: - Position

        /// The selected position, from which keys move; nil if there is none.
        var selected: Int? {
            get {
                let position = gtk_single_selection_get_selected(selection)
                return position == GTK_INVALID_LIST_POSITION ? nil : Int(position)
            }
            set {
                gtk_single_selection_set_selected(selection, newValue.map { guint($0) } ?? GTK_INVALID_LIST_POSITION)
            }
        }

        func scroll(to position: Int) {
            gtk_widget_activate_action_variant(grid, "list.scroll-to-item", g_variant_new_uint32(guint(position)))
        }

        /// Scrolls by logical pixels, as far as the ends.
        func scroll(by pixels: Double) {
            guard let adjustment = gtk_scrolled_window_get_vadjustment(scrolled.opaque) else { return }
            gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + pixels)
        }

        func focus() { gtk_widget_grab_focus(grid) }

        /// Loads the visible pictures that failed again, and forgets which URLs failed.
        func reloadFailed() {
            for view in cells.visible.values where view.state.error != nil { view.target.slots[.image].reload() }
        }
    }

    /// Refers the closures of the cells to their page.
    @MainActor private final class ItemSource {
        weak var page: GridPage?
    }
#endif
