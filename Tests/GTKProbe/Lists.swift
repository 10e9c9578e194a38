#if GTK
    import CSysGTK
    import WebImage
    import WebImageCore
    import WebImageGTK

    /// Loads for cells of a list that are not in view.
    @MainActor enum Lists {
        /// The first picture of a list, and its bound cells by position.
        @MainActor private final class Page {
            var first = 0
            var bound: [Int: WebImageView] = [:]
        }

        /// Reloads a list with other pictures, including the cells that are bound but not in view.
        static func reloads() async {
            let origin = Views.Origin()
            for number in 0..<400 { origin.answer(number) }
            let page = Page()
            let cells = ImageCells(manager: origin.manager, width: 60, height: 60, count: { 200 }) {
                origin.request(page.first + $0)
            }
            cells.onBind = { view, position in page.bound[position] = view }
            let grid = Grid(cells, items: 200)
            await grid.show()
            let (count, visible) = (page.bound.count, cells.visible.count)
            (page.first, page.bound) = (200, [:])
            cells.reload()
            let isRight = page.bound.allSatisfy { $1.state.url == Views.Origin.url(200 + $0) }
            print("reloaded \(count > visible) \(page.bound.count == count) \(isRight)")
            grid.close()
        }

        /// Checks the pictures that are prefetched, at the size of the cells, for a list that was never scrolled.
        static func prefetches() async {
            let origin = Views.Origin()
            for number in 0..<200 { origin.answer(number, width: 120, height: 120) }
            var options = PrefetchOptions()
            options.destination = .memory
            let prefetcher = ImagePrefetcher(manager: origin.manager, options: options)
            let cells = ImageCells(
                manager: origin.manager, width: 60, height: 60, prefetcher: prefetcher, count: { 200 },
                request: { origin.request($0) })
            let grid = Grid(cells, items: 200)
            await grid.show()
            for view in cells.visible.values {
                await Views.wait(view) { if case .loaded = $0.phase { true } else { false } }
            }
            guard let last = cells.visible.keys.max(), let size = cells.visible[last]?.box.size?.pixels else {
                return print("cells none")
            }
            await prefetcher.finished()
            var request = origin.request(last + 1)
            request.size = TargetSize(size, fit: .cover)
            print("ahead \(origin.manager.cachedImage(for: request) != nil)")
            grid.close()
        }
    }
#endif
