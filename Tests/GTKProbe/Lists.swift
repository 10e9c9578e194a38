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

        /// The pictures of a list by position, and the positions of its views as `onBind` has reported them.
        @MainActor private final class Shelf {
            var numbers = Array(0..<200)
            var reported: [ObjectIdentifier: Int] = [:]
            let cells: ImageCells

            init(_ origin: Views.Origin) {
                weak var shelf: Shelf?
                cells = ImageCells(
                    manager: origin.manager, width: 60, height: 60, count: { shelf?.numbers.count ?? 0 },
                    request: { position in shelf.map { origin.request($0.numbers[position]) } })
                shelf = self
                cells.onBind = { [weak self] view, position in self?.reported[ObjectIdentifier(view)] = position }
            }

            func isRight(_ view: WebImageView, at position: Int) -> Bool {
                cells.visible[position] === view && reported[ObjectIdentifier(view)] == position
                    && view.state.url == Views.Origin.url(numbers[position])
            }

            var isRight: Bool { cells.visible.count > 10 && cells.visible.allSatisfy { isRight($1, at: $0) } }
        }

        /// Removes and inserts items before the visible cells, and moves the cells as GTK does from version 4.12 on:
        /// without binding them again.
        static func shifts() async {
            let origin = Views.Origin()
            for number in 0..<400 { origin.answer(number) }
            let shelf = Shelf(origin)
            let grid = Grid(shelf.cells, items: 200)
            await grid.show()
            print("shown \(shelf.isRight)")
            shelf.numbers.removeFirst(3)
            await grid.replace(at: 0, removing: 3)
            print("removed \(shelf.isRight)")
            shelf.numbers.insert(contentsOf: [300, 301], at: 1)
            await grid.replace(at: 1, inserting: 2)
            print("inserted \(shelf.isRight)")
            let views = shelf.cells.visible.sorted { $0.key < $1.key }.dropFirst()
            for (_, view) in views { await Views.wait(view) { if case .loaded = $0.phase { true } else { false } } }
            shelf.numbers.removeFirst()
            for (position, view) in views { shelf.cells.moved(view, to: position - 1) }
            print("moved \(views.allSatisfy { shelf.isRight($1, at: $0 - 1) && $1.state.image != nil })")
            shelf.numbers.insert(302, at: 0)
            for (position, view) in views.reversed() { shelf.cells.moved(view, to: position) }
            print("back \(views.allSatisfy { shelf.isRight($1, at: $0) && $1.state.image != nil })")
            grid.close()
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
