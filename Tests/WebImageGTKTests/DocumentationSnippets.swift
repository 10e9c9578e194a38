// The Swift snippets of WebImageInGTK.md, word for word. Nothing here is called.
#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    extension UnsafeMutablePointer {
        fileprivate func cast<Other>() -> UnsafeMutablePointer<Other> {
            UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
        }
    }

    @MainActor private struct WebImageInGTK {
        func main() {
            guard gtk_init_check() != 0 else { return print("there is no display") }
            GTKMainLoop.install()
            let view = WebImageView(manager: ImageManager(), fit: .contain)
            view.alternativeText = "A fox in the snow"
            view.load("https://example.com/fox.jpg")
            let window = gtk_window_new()
            gtk_window_set_child(window?.cast(), view.widget.pointer.assumingMemoryBound(to: GtkWidget.self))
            gtk_window_present(window?.cast())
            let loop = g_main_loop_new(nil, 0)
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
            let icon = GTKWidget(gtk_image_new().map { UnsafeMutableRawPointer($0) } ?? pointer)
            icon.webImage(manager)?.load("https://example.com/icon.png")
        }
    }
#endif
