#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The window: the grid or one large picture, and the panel beside it.
    @MainActor final class GalleryWindow {
        static let size: (width: Int32, height: Int32) = (1000, 700)

        let window = Make.named(gtk_window_new(), [])
        let grid: GridPage
        let detail: DetailPage
        let panel: SidePanel
        /// Called when the window is closed.
        var onClose: (@MainActor () -> Void)?

        /// Called on progress of a load in the grid or the large picture. For scripts.
        var onActivity: (@MainActor () -> Void)?

        private(set) var header: GalleryHeader!
        private let stack = Make.named(gtk_stack_new(), [])
        private let manager: ImageManager
        private var keys: GalleryKeys?
        /// The position in the grid of the picture that is shown large.
        private(set) var position: Int?

        init(_ items: [GalleryItem], manager: ImageManager, prefetcher: ImagePrefetcher, book: PictureBook) {
            self.manager = manager
            grid = GridPage(items, manager: manager, prefetcher: prefetcher)
            detail = DetailPage(manager: manager, book: book)
            panel = SidePanel(manager: manager, book: book)
            header = GalleryHeader(isDark: Style.isDark, actions)
            gtk_window_set_title(window.window, "WebImage gallery")
            gtk_window_set_default_size(window.window, Self.size.width, Self.size.height)
            gtk_window_set_titlebar(window.window, header.widget)
            gtk_stack_add_named(stack.opaque, grid.widget, "grid")
            gtk_stack_add_named(stack.opaque, detail.widget, "detail")
            gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
            gtk_stack_set_transition_duration(stack.opaque, 150)
            gtk_widget_set_hexpand(stack, 1)
            let content = Make.box(GTK_ORIENTATION_HORIZONTAL)
            gtk_box_append(content.box, stack)
            gtk_box_append(content.box, panel.widget)
            gtk_window_set_child(window.window, content)
            connect()
        }

        private func connect() {
            grid.onOpen = { [weak self] in self?.open($0) }
            grid.onLook = { [weak self] in self?.panel.look(at: $0) }
            grid.onChange = { [weak self] in self?.noteActivity() }
            detail.onChange = { [weak self] in self?.detailChanged() }
            keys = GalleryKeys(on: self)
            SignalConnection.connectQuestion(window.raw, "close-request") { [weak self] in
                self?.onClose?()
                return false
            }
        }

        private var actions: GalleryHeader.Actions {
            GalleryHeader.Actions(
                search: { [weak self] in self?.search($0) },
                leaveSearch: { [weak self] in self?.grid.focus() },
                goBack: { [weak self] in self?.goBack() },
                reloadFailed: { [weak self] in self?.reloadFailed() },
                emptyMemory: { [weak self] in self?.emptyMemory() },
                setDark: { Style.isDark = $0 },
                showPanel: { [weak self] isShown in
                    self?.panel.widget.isVisible = isShown
                    self?.panel.note()
                })
        }

        func present() {
            gtk_window_present(window.window)
            grid.focus()
        }

        func close() { gtk_window_destroy(window.window) }

        // MARK: - Pages

        var isDetail: Bool { position != nil }

        /// Shows the picture at a position of the grid on the detail page.
        func open(_ position: Int) {
            guard let item = grid.shown[position] else { return }
            self.position = position
            header.setDetail(true)
            panel.look(at: item)
            detail.show(item)
            gtk_stack_set_visible_child_name(stack.opaque, "detail")
        }

        /// Moves to the next picture, or with -1 to the previous one.
        func step(_ by: Int) {
            guard let position, grid.shown[position + by] != nil else { return }
            grid.selected = position + by
            open(position + by)
        }

        func goBack() {
            guard isDetail else { return }
            showGrid()
            grid.focus()
        }

        private func showGrid() {
            guard let position else { return }
            self.position = nil
            header.setDetail(false)
            gtk_stack_set_visible_child_name(stack.opaque, "grid")
            detail.show(nil)
            grid.selected = position
            grid.scroll(to: position)
        }

        private func detailChanged() {
            if let item = detail.item { panel.look(at: item) }
            noteActivity()
        }

        private func noteActivity() {
            panel.note()
            onActivity?()
        }

        // MARK: - Actions of buttons

        /// Searches without moving the focus from the search entry.
        private func search(_ query: String) {
            showGrid()
            grid.search(query)
        }

        func reloadFailed() {
            manager.failedURLs.removeAll()
            grid.reloadFailed()
            if detail.view.failure != nil { detail.show(detail.item) }
        }

        private func emptyMemory() {
            manager.memoryCache.removeAll()
            panel.note()
        }
    }
#endif
