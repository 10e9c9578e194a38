#if GTK
    import CShimGTK
    import CSysGTK
    import WebImageGTK

    /// One of GTK's widgets. The window retains all widgets as long as the program runs.
    typealias Widget = UnsafeMutablePointer<GtkWidget>

    extension UnsafeMutablePointer<GtkWidget> {
        /// For functions of widgets whose C type Swift does not know, which are most.
        var opaque: OpaquePointer { OpaquePointer(self) }
        var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
        var box: UnsafeMutablePointer<GtkBox> { raw.assumingMemoryBound(to: GtkBox.self) }
        var button: UnsafeMutablePointer<GtkButton> { raw.assumingMemoryBound(to: GtkButton.self) }
        var toggle: UnsafeMutablePointer<GtkToggleButton> { raw.assumingMemoryBound(to: GtkToggleButton.self) }
        var window: UnsafeMutablePointer<GtkWindow> { raw.assumingMemoryBound(to: GtkWindow.self) }

        var isVisible: Bool {
            get { gtk_widget_get_visible(self) != 0 }
            nonmutating set { if newValue != isVisible { gtk_widget_set_visible(self, newValue ? 1 : 0) } }
        }

        /// The text of a label.
        func setText(_ text: String) { gtk_label_set_text(opaque, text) }
    }

    extension GTKWidget {
        var cWidget: Widget { pointer.assumingMemoryBound(to: GtkWidget.self) }
    }

    /// Makes widgets with the program's properties.
    @MainActor enum Make {
        static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ classes: String...) -> Widget {
            named(gtk_box_new(orientation, spacing), classes)
        }

        /// A line of text that is shortened with an ellipsis if there is not enough space.
        static func label(_ text: String = "", alignment: Float = 0, _ classes: String...) -> Widget {
            let label = named(gtk_label_new(text), classes)
            gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_xalign(label.opaque, alignment)
            return label
        }

        /// A button with one of GTK's icons.
        static func button(_ icon: String, _ tooltip: String, _ action: @escaping @MainActor () -> Void) -> Widget {
            let button = named(gtk_button_new_from_icon_name(icon), [])
            explain(button, tooltip)
            SignalConnection.connect(button.raw, "clicked", action)
            return button
        }

        /// A button that stays pressed.
        static func toggle(
            _ icon: String, _ tooltip: String, isOn: Bool, _ action: @escaping @MainActor (Bool) -> Void
        ) -> Widget {
            let toggle = named(gtk_toggle_button_new(), [])
            gtk_button_set_icon_name(toggle.button, icon)
            explain(toggle, tooltip)
            gtk_toggle_button_set_active(toggle.toggle, isOn ? 1 : 0)
            SignalConnection.connect(toggle.raw, "toggled") {
                action(gtk_toggle_button_get_active(toggle.toggle) != 0)
            }
            return toggle
        }

        /// Sets the text that tells what a widget without text is for, also to screen readers.
        private static func explain(_ widget: Widget, _ text: String) {
            gtk_widget_set_tooltip_text(widget, text)
            wi_set_label(widget.raw, text)
        }

        static func named(_ widget: Widget?, _ classes: [String]) -> Widget {
            guard let widget else { preconditionFailure("GTK makes no widgets before gtk_init") }
            for name in classes { gtk_widget_add_css_class(widget, name) }
            return widget
        }
    }
#endif
