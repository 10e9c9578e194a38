#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// One run of the program: determines the pictures, opens the window, and ends when it is closed.
    @MainActor final class GallerySession {
        private let options: GalleryOptions
        private let loop = g_main_loop_new(nil, 0)
        /// The demo's server, while it is needed.
        private var origin: GalleryOrigin?
        private var window: GalleryWindow?
        private var manager: ImageManager?
        private var message: String?

        init(_ options: GalleryOptions) { self.options = options }

        /// Runs GTK's main loop until the window is closed.
        ///
        /// - Returns: the error message; nil if there was no error.
        func run() -> String? {
            guard gtk_init_check() != 0 else { return "there is no display to open a window on" }
            GTKMainLoop.install()
            Style.install()
            Style.isDark = options.isDark
            Task {
                do throws(OptionError) { try await begin() } catch { end(error.message) }
            }
            g_main_loop_run(loop)
            return message
        }

        private func begin() async throws(OptionError) {
            switch options.script {
            case .scroll: end(await ScrollScript.run())
            case .screenshots(let folder):
                let items = try await items()
                end(await ScreenshotScript.run(open(items), folder: folder))
            case nil: open(try await items())
            }
        }

        private func end(_ message: String?) {
            self.message = message
            manager?.shutDown()
            g_main_loop_quit(loop)
        }

        /// The pictures that the command line names, or without any those of the demo's server.
        private func items() async throws(OptionError) -> [GalleryItem] {
            var inputs = options.inputs
            if let list = options.inputList {
                guard let text = await FileText.read(list) else {
                    throw OptionError("--input-list \(list): the file cannot be read")
                }
                inputs += GalleryItem.inputs(in: text)
                if inputs.isEmpty { throw OptionError("--input-list \(list): there is no URL in it") }
            }
            if !inputs.isEmpty { return inputs.map { GalleryItem($0) } }
            do throws(WebImageError) {
                let origin = try GalleryOrigin()
                self.origin = origin
                return origin.items
            } catch {
                throw OptionError("the demo's server does not start: \(error.message)")
            }
        }

        @discardableResult private func open(_ items: [GalleryItem]) -> GalleryWindow {
            let parts = GalleryParts(isDemo: origin != nil)
            let window = GalleryWindow(
                items, manager: parts.manager, prefetcher: parts.prefetcher, book: parts.book)
            self.window = window
            manager = parts.manager
            window.onClose = { [weak self] in self?.end(nil) }
            window.present()
            return window
        }
    }

    /// The objects that load pictures for a window.
    @MainActor struct GalleryParts {
        let manager: ImageManager
        let prefetcher: ImagePrefetcher
        let book = PictureBook()

        /// - Parameter isDemo: whether the pictures come from a temporary server, which the next run will not find.
        ///   They are then cached in a folder of their own, and the pictures of the last run are removed.
        init(isDemo: Bool) {
            var configuration = ImageManager.Configuration()
            if isDemo, let directory = configuration.disk?.directory {
                configuration.disk = DiskCacheConfiguration(directory: directory, namespace: "gallery-demo")
            }
            if isDemo { configuration.download.proxy = .direct }
            self.init(configuration)
            if isDemo, let disk = manager.diskCache { Task { try? await disk.removeAll() } }
        }

        init(_ configuration: ImageManager.Configuration) {
            var configuration = configuration
            configuration.interceptors = [book]
            manager = ImageManager(configuration: configuration)
            var options = PrefetchOptions()
            options.destination = .memory
            prefetcher = ImagePrefetcher(manager: manager, options: options)
        }
    }
#endif
