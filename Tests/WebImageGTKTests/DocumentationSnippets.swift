// The Swift snippets of WebImageInGTK.md, word for word. Nothing here is called. A reader's own module CGTK is CSysGTK here.
#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    @MainActor private struct WebImageInGTK {
        func main() {
            guard gtk_init_check() != 0, let widget = gtk_window_new() else { fatalError("there is no display") }
            GTKMainLoop.install()
            let view = WebImageView(manager: ImageManager(), fit: .contain)
            view.alternativeText = "A fox in the snow"
            view.load("https://example.com/fox.jpg")
            let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
            gtk_window_set_child(window, view.widget.pointer.assumingMemoryBound(to: GtkWidget.self))
            let loop = g_main_loop_new(nil, 0)
            GTKWidget(UnsafeMutableRawPointer(window)).onSignal("destroy") { g_main_loop_quit(loop) }
            gtk_window_present(window)
            g_main_loop_run(loop)
        }

        func show(_ view: WebImageView) {
            view.indicator = .progressBar
            view.load("https://example.com/fox.jpg", blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
            view.onStateChange = { state in print(state.fraction ?? 0) }
        }

        func fill(_ manager: ImageManager, _ urls: [String], _ selection: OpaquePointer?) -> ImageCells {
            var options = PrefetchOptions()
            options.destination = .memory
            let prefetcher = ImagePrefetcher(manager: manager, options: options)
            let cells = ImageCells(
                manager: manager, width: 160, height: 160, prefetcher: prefetcher,
                count: { urls.count }, request: { ImageRequest(urls[$0]) })
            cells.onBind = { view, position in view.alternativeText = urls[position] }
            let grid = gtk_grid_view_new(selection, OpaquePointer(cells.takeFactory()))
            _ = grid
            return cells
        }

        func place(_ manager: ImageManager, _ pointer: UnsafeMutableRawPointer) {
            let icon = GTKWidget(pointer)
            icon.webImage(manager)?.load("https://example.com/icon.png")
        }
    }
#endif
