#if GTK
    import WebImage
    import WebImageGTK

    /// Writes the screenshots of the window for the documentation.
    @MainActor struct ScreenshotScript {
        private let window: GalleryWindow
        private let events: ScriptEvents
        private let folder: String

        /// - Returns: the error message; nil if all screenshots were written.
        static func run(_ window: GalleryWindow, folder: String) async -> String? {
            let script = ScreenshotScript(window: window, events: ScriptEvents(window), folder: folder)
            do throws(ScriptError) {
                try await script.run()
                return nil
            } catch {
                return error.message
            }
        }

        private func run() async throws(ScriptError) {
            await events.frames(2)
            try await events.waitForCells()
            if let item = window.grid.shown[0] { window.panel.look(at: item) }
            try await save("grid")
            try await saveDetails()
            try await saveErrors()
            try await saveAnimation()
            Style.isDark = true
            try await search("night")
            await events.frames(2)
            try await events.waitForCells()
            if let item = window.grid.shown[1] { window.panel.look(at: item) }
            try await save("dark")
            Style.isDark = false
        }

        private func saveDetails() async throws(ScriptError) {
            try await open { $0.name.hasPrefix("sunset.") }
            try await save("detail")
            try await open { $0.name.hasPrefix("camera.") }
            window.detail.view.setZoom(1)
            window.detail.view.pan(-220, 120)
            try await settleDetail()
            try await save("zoom")
            window.goBack()
        }

        private func saveErrors() async throws(ScriptError) {
            try await search("o")
            guard let position = position(where: { $0.name.hasPrefix("lost") }) else {
                throw ScriptError("the gallery shows no failed picture")
            }
            window.grid.scroll(to: position)
            await events.frames(2)
            try await events.waitForCells()
            try await save("error")
            try await search("")
        }

        private func search(_ query: String) async throws(ScriptError) {
            window.header.query = query
            try await events.wait(for: "the search") { [window] in window.grid.shown.query == query }
        }

        private func saveAnimation() async throws(ScriptError) {
            try await open { $0.name.hasPrefix("waves-1") }
            guard window.detail.view.whole?.image.animation != nil else {
                throw ScriptError("the picture is not an animation")
            }
            try await save("animation")
            window.goBack()
        }

        private func position(where isWanted: (GalleryItem) -> Bool) -> Int? {
            (0..<window.grid.shown.count).first { window.grid.shown[$0].map(isWanted) ?? false }
        }

        private func open(_ isWanted: (GalleryItem) -> Bool) async throws(ScriptError) {
            guard let position = position(where: isWanted) else { throw ScriptError("the gallery has no such picture") }
            window.open(position)
            await events.frames(2)
            try await settleDetail()
        }

        private func settleDetail() async throws(ScriptError) {
            try await events.wait(for: "the picture that is shown large") { [window] in
                !window.detail.view.isLoading && window.detail.view.whole != nil
            }
        }

        private func save(_ name: String) async throws(ScriptError) {
            // Waits for fades, and for the panel, which takes up to a quarter of a second.
            await events.frames(for: .milliseconds(600))
            let path = "\(folder)/gallery-\(name).png"
            guard GTKWidget(window.window.raw).saveScreenshot(to: path) else {
                throw ScriptError("\(path) cannot be written")
            }
            print(path)
        }
    }
#endif
