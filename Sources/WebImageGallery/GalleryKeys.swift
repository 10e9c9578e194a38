#if GTK
    import CSysGTK
    import WebImageGTK

    /// The actions of the keys in the window.
    @MainActor final class GalleryKeys {
        private weak var window: GalleryWindow?

        init(on window: GalleryWindow) {
            self.window = window
            guard let controller = gtk_event_controller_key_new() else { return }
            // Handles keys before the search entry and the grid, which use some of them themselves.
            gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
            gtk_widget_add_controller(window.window, controller)
            SignalConnection.connectKey(UnsafeMutableRawPointer(controller), "key-pressed") { [weak self] key, state in
                self?.press(Int32(bitPattern: key), holdsControl: state & GDK_CONTROL_MASK.rawValue != 0) ?? false
            }
        }

        /// - Returns: whether the key had an effect.
        func press(_ key: Int32, holdsControl: Bool = false) -> Bool {
            guard let window else { return false }
            if holdsControl { return pressWithControl(key, window) }
            switch key {
            case GDK_KEY_F5: window.reloadFailed()
            case GDK_KEY_F9: window.header.togglePanel()
            case GDK_KEY_Escape: return leave(window)
            default: return window.isDetail && !window.header.isSearching && pressInDetail(key, window)
            }
            return true
        }

        private func pressWithControl(_ key: Int32, _ window: GalleryWindow) -> Bool {
            switch key {
            case GDK_KEY_f: window.header.focusSearch()
            case GDK_KEY_d: window.header.toggleDark()
            case GDK_KEY_q, GDK_KEY_w: gtk_window_close(window.window.window)
            default: return false
            }
            return true
        }

        private func pressInDetail(_ key: Int32, _ window: GalleryWindow) -> Bool {
            let view = window.detail.view
            switch key {
            case GDK_KEY_Left, GDK_KEY_Page_Up: window.step(-1)
            case GDK_KEY_Right, GDK_KEY_Page_Down: window.step(1)
            // Presses a button that has the focus.
            case GDK_KEY_space where Self.focusIsButton(window): return false
            case GDK_KEY_space: window.step(1)
            case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: view.zoom(by: Viewport.step)
            case GDK_KEY_minus, GDK_KEY_KP_Subtract: view.zoom(by: 1 / Viewport.step)
            case GDK_KEY_0, GDK_KEY_KP_0: view.fit()
            case GDK_KEY_1, GDK_KEY_KP_1: view.setZoom(1)
            case GDK_KEY_BackSpace: window.goBack()
            default: return false
            }
            return true
        }

        private static func focusIsButton(_ window: GalleryWindow) -> Bool {
            guard let focus = gtk_window_get_focus(window.window.window) else { return false }
            let instance = UnsafeMutableRawPointer(focus).assumingMemoryBound(to: GTypeInstance.self)
            return g_type_check_instance_is_a(instance, gtk_button_get_type()) != 0
        }

        /// Handles Escape: goes back from a picture, and otherwise clears the search.
        private func leave(_ window: GalleryWindow) -> Bool {
            if window.isDetail {
                window.goBack()
            } else if !window.header.query.isEmpty {
                window.header.query = ""
                window.grid.focus()
            } else if window.header.isSearching {
                window.grid.focus()
            } else {
                return false
            }
            return true
        }
    }
#endif
