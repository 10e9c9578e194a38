#if GTK
    internal import CShimGTK

    /// A strong reference to a GTK widget.
    ///
    /// `pointer` is the `GtkWidget *` of GTK's C interface. Widgets of this module can therefore be placed in windows
    /// of any GTK binding, and widgets of any binding can be used here.
    @MainActor public final class GTKWidget {
        /// The `GtkWidget *`.
        public let pointer: UnsafeMutableRawPointer

        /// Takes a reference to a widget, or the floating reference of a new one.
        ///
        /// - Parameter pointer: a `GtkWidget *`.
        public init(_ pointer: UnsafeMutableRawPointer) {
            self.pointer = pointer
            wi_reference(pointer)
        }

        /// Takes a reference to a widget whose C type Swift does not know, as is the case for most of GTK's own
        /// widgets.
        ///
        /// - Parameter pointer: a `GtkWidget *`.
        public convenience init(_ pointer: OpaquePointer) { self.init(UnsafeMutableRawPointer(pointer)) }

        isolated deinit { wi_unreference(pointer) }

        /// Calls a closure whenever the widget emits a signal whose handlers return nothing. For the arguments of a
        /// signal, and for handlers that return something, use ``SignalConnection``.
        ///
        /// - Returns: a connection, which need not be kept; nil if the widget has no such signal.
        @discardableResult public func onSignal(
            _ signal: String, _ body: @escaping @MainActor () -> Void
        ) -> SignalConnection? {
            SignalConnection.connect(pointer, signal, body)
        }
    }
#endif
