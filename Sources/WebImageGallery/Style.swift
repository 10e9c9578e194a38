#if GTK
    import CSysGTK

    /// The program's styles, in addition to GTK's themes.
    @MainActor enum Style {
        static let text = """
            .gallery-grid { padding: 8px; background: transparent; }
            .gallery-grid > child { padding: 0; margin: 4px; border-radius: 10px; outline-offset: 1px; }
            .gallery-grid > child:hover { filter: brightness(1.06); }
            .gallery-grid > child:selected { background: none; box-shadow: 0 0 0 3px @theme_selected_bg_color; }
            .gallery-cell { border-radius: 10px; background-color: alpha(currentColor, 0.08); }
            .gallery-cell.failed { background-color: alpha(@error_color, 0.16); }
            .gallery-caption {
                padding: 3px 8px; font-size: 12px; color: white; background-color: rgba(0, 0, 0, 0.62);
                border-radius: 0 0 10px 10px;
            }
            .gallery-empty { font-size: 18px; opacity: 0.7; }
            .gallery-detail { background-color: #17181b; }
            .gallery-bar button { min-width: 30px; min-height: 30px; padding: 2px; }
            .gallery-bar { padding: 6px 12px; border-top: 1px solid alpha(currentColor, 0.15); }
            .gallery-bar label { font-size: 13px; }
            .gallery-name { font-weight: bold; }
            .gallery-dim { opacity: 0.8; }
            .gallery-trouble { color: #ffb4a9; font-size: 16px; padding: 24px; }
            .gallery-panel {
                padding: 12px; border-left: 1px solid alpha(currentColor, 0.15);
                background-color: alpha(currentColor, 0.03);
            }
            .gallery-panel label { font-size: 12px; }
            .gallery-panel .heading { font-weight: bold; font-size: 13px; margin-top: 6px; }
            .gallery-panel .figure { font-feature-settings: "tnum"; }
            .gallery-panel .trace { font-family: monospace; font-size: 10px; }
            """

        /// Cells of one colour, for scripts that examine their pixels.
        static let plainCells = """
            .gallery-cell, .gallery-cell.failed { background-color: #808080; border-radius: 0; }
            .gallery-grid > child:hover { filter: none; }
            """

        /// Applies a style to all windows.
        static func install(_ text: String = text) {
            guard let display = gdk_display_get_default(), let provider = gtk_css_provider_new() else { return }
            gtk_css_provider_load_from_data(provider, text, -1)
            gtk_style_context_add_provider_for_display(
                display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
            g_object_unref(provider)
        }

        /// Whether GTK's dark theme is used.
        static var isDark = false {
            didSet {
                guard let settings = gtk_settings_get_default() else { return }
                var value = GValue()
                g_value_init(&value, g_type_from_name("gboolean"))
                g_value_set_boolean(&value, isDark ? 1 : 0)
                g_object_set_property(
                    UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self),
                    "gtk-application-prefer-dark-theme", &value)
                g_value_unset(&value)
            }
        }
    }
#endif
