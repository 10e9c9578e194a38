#if GTK
    package import CSysGTK

    /// Whether the window of a mapped widget can be seen. GTK keeps the widgets of a minimised window mapped.
    @MainActor package final class WindowSight {
        package private(set) var isSeen = true
        private var changes: SignalConnection?

        /// - Parameters:
        ///   - widget: a `GtkWidget *` that is mapped.
        ///   - onChange: called when ``isSeen`` has changed.
        package init(of widget: UnsafeMutablePointer<GtkWidget>, onChange: @escaping @MainActor () -> Void) {
            guard let root = gtk_widget_get_root(widget), let surface = gtk_native_get_surface(root) else { return }
            let object = UnsafeMutableRawPointer(surface)
            let instance = object.assumingMemoryBound(to: GTypeInstance.self)
            guard g_type_check_instance_is_a(instance, gdk_toplevel_get_type()) != 0 else { return }
            isSeen = Self.isSeen(surface)
            changes = SignalConnection.connect(object, "notify::state") { [weak self] in
                guard let self, Self.isSeen(surface) != isSeen else { return }
                isSeen.toggle()
                onChange()
            }
        }

        isolated deinit { changes?.disconnect() }

        private static func isSeen(_ toplevel: OpaquePointer) -> Bool {
            // GDK_TOPLEVEL_STATE_SUSPENDED, which GTK sets from version 4.12 on: the compositor shows no part of the window.
            let suspended: UInt32 = 1 << 16
            return gdk_toplevel_get_state(toplevel).rawValue & (GDK_TOPLEVEL_STATE_MINIMIZED.rawValue | suspended) == 0
        }
    }
#endif
