#if GTK
    import CSysGTK
    import WebImageGTK

    /// The bar at the top, with the search and the buttons for all actions.
    @MainActor final class GalleryHeader {
        /// The actions of the bar's parts.
        struct Actions {
            let search: @MainActor (String) -> Void
            let leaveSearch: @MainActor () -> Void
            let goBack: @MainActor () -> Void
            let reloadFailed: @MainActor () -> Void
            let emptyMemory: @MainActor () -> Void
            let setDark: @MainActor (Bool) -> Void
            let showPanel: @MainActor (Bool) -> Void
        }

        let widget = Make.named(gtk_header_bar_new(), [])
        private let entry = Make.named(gtk_search_entry_new(), [])
        private let back: Widget
        private let dark: Widget
        private let panel: Widget

        init(isDark: Bool, _ actions: Actions) {
            back = Make.button("go-previous-symbolic", "Back to all pictures (Escape)", actions.goBack)
            let reload = Make.button("view-refresh-symbolic", "Load failed pictures again (F5)", actions.reloadFailed)
            let empty = Make.button("edit-clear-all-symbolic", "Empty the memory cache", actions.emptyMemory)
            dark = Make.toggle("weather-clear-night-symbolic", "Dark style (Ctrl+D)", isOn: isDark, actions.setDark)
            panel = Make.toggle("sidebar-show-right-symbolic", "Panel (F9)", isOn: true, actions.showPanel)
            for button in [back, reload] { gtk_header_bar_pack_start(widget.opaque, button) }
            for button in [panel, dark, empty] { gtk_header_bar_pack_end(widget.opaque, button) }
            gtk_widget_set_size_request(entry, 320, -1)
            gtk_widget_set_tooltip_text(entry, "Search by name (Ctrl+F)")
            gtk_header_bar_set_title_widget(widget.opaque, entry)
            SignalConnection.connect(entry.raw, "search-changed") { [weak self] in
                if let self { actions.search(query) }
            }
            SignalConnection.connect(entry.raw, "activate", actions.leaveSearch)
            back.isVisible = false
        }

        var query: String {
            get { gtk_editable_get_text(entry.opaque).map { String(cString: $0) } ?? "" }
            set { gtk_editable_set_text(entry.opaque, newValue) }
        }

        /// Whether the search entry gets the keys while the window has the focus. The state flags of the entry would
        /// also be false while another window has the focus.
        var isSearching: Bool {
            guard let root = gtk_widget_get_root(entry), let focus = gtk_root_get_focus(root) else { return false }
            return focus == entry || gtk_widget_is_ancestor(focus, entry) != 0
        }

        func focusSearch() { gtk_widget_grab_focus(entry) }

        /// Sets whether one picture is shown large.
        func setDetail(_ isDetail: Bool) { back.isVisible = isDetail }

        func toggleDark() { flip(dark) }
        func togglePanel() { flip(panel) }

        private func flip(_ toggle: Widget) {
            gtk_toggle_button_set_active(toggle.toggle, gtk_toggle_button_get_active(toggle.toggle) == 0 ? 1 : 0)
        }
    }
#endif
