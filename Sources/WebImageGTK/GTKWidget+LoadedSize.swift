#if GTK
    internal import CSysGTK
    internal import WebImageCore

    extension GTKWidget {
        /// The size in device pixels for which a widget loads its picture once it was laid out. A side of 0 follows
        /// from the other one. A widget without a size will become as large as its picture, but no wider than its
        /// window.
        func loadedSize(of allocation: BoxSize) -> PixelSize {
            guard allocation.width <= 0, allocation.height <= 0 else { return allocation.pixels }
            guard let window = gtk_widget_get_root(cWidget) else { return PixelSize(width: 0, height: 0) }
            let width = gtk_widget_get_width(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWidget.self))
            return PixelSize(width: Int(width) * allocation.scale, height: 0)
        }
    }
#endif
