#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK
    import WebImageTesting

    /// Scrolls through numbered pictures, fast, back and in jumps. At every step it checks that each cell shows its own
    /// picture.
    ///
    /// It prints its results as lines of `name value`.
    @MainActor final class ScrollScript {
        private let origin: NumberedOrigin
        private let parts: GalleryParts
        private let window: GalleryWindow
        private let events: ScriptEvents
        private let inspector: CellInspector
        private var looks = 0
        private var cellsSeen = 0
        private var maxLoads = 0

        /// - Returns: the error message; nil if there was no error.
        static func run() async -> String? {
            do throws(ScriptError) {
                let script = try ScrollScript()
                defer { script.close() }
                try await script.run()
                return nil
            } catch {
                return error.message
            }
        }

        private init() throws(ScriptError) {
            do throws(WebImageError) { origin = try NumberedOrigin() } catch {
                throw ScriptError("the server does not start: \(error.message)")
            }
            var configuration = ImageManager.Configuration()
            configuration.disk = nil
            parts = GalleryParts(configuration)
            Style.install(Style.plainCells)
            window = GalleryWindow(
                origin.items, manager: parts.manager, prefetcher: parts.prefetcher, book: parts.book)
            events = ScriptEvents(window)
            inspector = CellInspector(window: window)
        }

        private func close() {
            parts.manager.shutDown()
            origin.server.stop()
            window.close()
        }

        private func run() async throws(ScriptError) {
            window.present()
            await events.frames(2)
            CallbackTimes.isMeasuring = true
            LoopTimes.install()
            try await settle()
            // Scrolls fast to the end, and back.
            try await scroll(by: 900, frames: 40)
            try await settle()
            try await scroll(by: -700, frames: 30)
            for position in [0, 480, 250, 40, 499, 100, 300, 7] { try await jump(to: position) }
            try await settle()
            try await rest()
            try await lookAtWarmCells()
            try await search()
            try await searchFromDetail()
            report()
        }

        // MARK: - Steps

        private func scroll(by pixels: Double, frames: Int) async throws(ScriptError) {
            for _ in 0..<frames {
                window.grid.scroll(by: pixels)
                try await look()
            }
        }

        private func jump(to position: Int) async throws(ScriptError) {
            window.grid.scroll(to: position)
            for _ in 0..<4 {
                try await look()
            }
        }

        /// Waits until all visible cells have their pictures, and examines them again after all fades have ended.
        private func settle() async throws(ScriptError) {
            try await events.waitForCells()
            await events.frames(for: .milliseconds(300))
            let report = try await look()
            for (number, sight) in report.sights {
                let expected: CellSight = NumberedOrigin.isMissing(number) ? .background : .picture
                guard sight == expected else { throw ScriptError("cell \(number) shows \(sight) and not \(expected)") }
            }
            guard report.sights.count >= min(8, window.grid.shown.count) else {
                throw ScriptError("only \(report.sights.count) cells are in view")
            }
        }

        /// Examines the next frame.
        @discardableResult private func look() async throws(ScriptError) -> CellInspector.Report {
            let seen = try await events.afterFrame { [inspector] in inspector.look() }
            guard let report = seen else { throw ScriptError("the window was not drawn") }
            if let wrong = report.wrong { throw ScriptError(wrong) }
            looks += 1
            cellsSeen += report.sights.count
            let loads = parts.manager.runningLoads
            maxLoads = max(maxLoads, loads)
            // Prefetches that are no longer wanted end a moment later.
            let most = window.grid.cells.visible.count + 2 * parts.prefetcher.options.width
            guard loads <= most else {
                throw ScriptError("\(loads) loads run for \(window.grid.cells.visible.count) cells in view")
            }
            return report
        }

        /// Waits until no load runs. The panel then reads no figures.
        private func rest() async throws(ScriptError) {
            try await events.wait(for: "the end of all loads") { [parts] in parts.manager.runningLoads == 0 }
        }

        /// Checks that cells whose pictures are in memory show them in the very next frame.
        private func lookAtWarmCells() async throws(ScriptError) {
            var warm = 0
            for position in [0, 100, 0, 300, 7, 250] {
                let known = CallbackTimes.leaveOut { positionsInMemory }
                window.grid.scroll(to: position)
                let report = try await look()
                for cell in window.grid.cells.visible.keys where known.contains(cell) {
                    guard let sight = report.sights[cell] else { continue }
                    guard sight == .picture else {
                        throw ScriptError("cell \(cell), whose picture is in memory, shows \(sight)")
                    }
                    warm += 1
                }
            }
            print("warm \(warm)")
            guard warm >= 40 else { throw ScriptError("only \(warm) cells had their pictures in memory") }
        }

        private var positionsInMemory: Set<Int> {
            guard let size = window.grid.cells.visible.values.first?.box.size else { return [] }
            return Set(
                (0..<window.grid.shown.count).filter { position in
                    guard var request = window.grid.shown[position]?.request else { return false }
                    request.size = TargetSize(size.pixels, fit: .cover)
                    return parts.manager.cachedImage(for: request) != nil
                })
        }

        /// Searches, which reuses cells for other pictures when there are fewer items.
        private func search() async throws(ScriptError) {
            for query in ["9", "99", "1", ""] {
                window.header.query = query
                try await events.wait(for: "the search") { [window] in window.grid.shown.query == query }
                try await look()
                try await settle()
            }
        }

        /// Checks that a search from the detail page leads to the grid, and leaves the focus in the search entry.
        private func searchFromDetail() async throws(ScriptError) {
            window.open(0)
            window.header.focusSearch()
            guard window.header.isSearching else { throw ScriptError("the search has no focus") }
            window.header.query = "9"
            try await events.wait(for: "the search") { [window] in window.grid.shown.query == "9" }
            guard !window.isDetail, window.header.isSearching else {
                throw ScriptError("the search from a large picture has lost the focus")
            }
            // Waits for the fade from one page to the other.
            await events.frames(for: .milliseconds(300))
            try await settle()
        }

        private func report() {
            print("looks \(looks) cells \(cellsSeen) wrong 0")
            print("loads \(maxLoads) at most; \(window.grid.cells.cellCount) cells made")
            print("asked \(origin.server.requests().count) times for \(NumberedOrigin.count) pictures")
            print("callbacks \(TimeReport(CallbackTimes.take()).text)")
            print("turns \(TimeReport(LoopTimes.take()).text)")
            print("end of scroll")
        }
    }
#endif
