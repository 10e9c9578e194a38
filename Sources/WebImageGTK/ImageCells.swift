#if GTK
    internal import CSysGTK
    public import WebImage

    /// A factory for the cells of a `GtkGridView` or `GtkListView` that show pictures. Cells are reused, and the
    /// pictures that come next are prefetched.
    ///
    ///     let cells = ImageCells(manager: manager, width: 150, height: 150, count: { urls.count }) { ImageRequest(urls[$0]) }
    ///     let grid = gtk_grid_view_new(selection, OpaquePointer(cells.takeFactory()))
    ///
    /// Each cell is a ``WebImageView``, which loads while it is bound and visible, and pauses otherwise. When items are
    /// inserted or removed, the cells after them get other positions, and keep their pictures. GTK before 4.12 unbinds
    /// these cells and binds them again; later versions only change their positions.
    ///
    /// Keep this object for as long as the list exists.
    @MainActor public final class ImageCells {
        /// Called for each cell when it is bound or gets another position, after its load has begun, for example to set
        /// ``WebImageView/alternativeText``.
        public var onBind: (@MainActor (_ view: WebImageView, _ position: Int) -> Void)?
        /// Called once for each cell, before it is bound.
        public var onSetup: (@MainActor (_ view: WebImageView) -> Void)?
        /// The cells that are bound and visible, by position.
        public private(set) var visible: [Int: WebImageView] = [:]
        /// The number of cells, visible or not.
        public private(set) var cellCount = 0

        /// The `GtkListItemFactory *`, to which this object holds a reference.
        private let factory: OpaquePointer
        /// The cells that are bound, visible or not: GTK binds many more than those in view.
        private var bound: [ObjectIdentifier: ListCell] = [:]
        private let manager: ImageManager
        private let size: (width: Int, height: Int)
        private let fit: ContentFit
        private let count: @MainActor () -> Int
        private let request: @MainActor (Int) -> ImageRequest?
        private let ahead: AheadOfList
        private var isPreloadDue = false

        /// - Parameters:
        ///   - manager: loads the pictures.
        ///   - width: the width of a cell, in logical pixels. A grid may make it larger.
        ///   - height: the height of a cell, in logical pixels.
        ///   - fit: how a picture is fitted into its cell.
        ///   - prefetcher: loads the pictures that come next: with the destination
        ///     ``/WebImage/PrefetchOptions/Destination/memory`` at the size of the cells. Nil prefetches nothing.
        ///   - count: returns the current number of items in the list.
        ///   - request: returns the request of an item; nil shows nothing in the cell.
        public init(
            manager: ImageManager, width: Int, height: Int, fit: ContentFit = .cover,
            prefetcher: ImagePrefetcher? = nil,
            count: @escaping @MainActor () -> Int, request: @escaping @MainActor (Int) -> ImageRequest?
        ) {
            self.manager = manager
            size = (width, height)
            self.fit = fit
            self.count = count
            self.request = request
            guard let factory = gtk_signal_list_item_factory_new() else {
                preconditionFailure("GTK makes no factories before gtk_init")
            }
            self.factory = factory
            ahead = AheadOfList(prefetcher)
            let object = UnsafeMutableRawPointer(factory)
            SignalConnection.connectObject(object, "setup") { [weak self] in self?.setUp($0) }
            SignalConnection.connectObject(object, "bind") { [weak self] in self?.bind($0) }
            SignalConnection.connectObject(object, "unbind") { [weak self] in self?.unbind($0) }
            SignalConnection.connectObject(object, "teardown") { [weak self] in self?.tearDown($0) }
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(factory)) }

        /// Returns the factory, a `GtkListItemFactory *`, with a new reference, for functions that take over a
        /// reference, such as `gtk_grid_view_new`.
        public func takeFactory() -> UnsafeMutableRawPointer { g_object_ref(UnsafeMutableRawPointer(factory)) }

        /// Binds all bound cells again, and restarts prefetching. Call it when the `request` closure returns other requests
        /// for the same positions.
        public func reload() {
            for cell in bound.values {
                if let position = cell.position { show(position, on: cell.view) }
            }
            ahead.stop()
            preloadSoon()
        }

        // MARK: - From the list

        private func setUp(_ item: OpaquePointer?) {
            guard let item else { return }
            let view = WebImageView(manager: manager, fit: fit)
            view.box.fixedSize = size
            let cell = ListCell(view)
            cell.cells = self
            AttachedObjects.attach(cell, to: UnsafeMutableRawPointer(item), as: ListCell.name)
            gtk_list_item_set_child(item, view.widget.cWidget)
            SignalConnection.connect(UnsafeMutableRawPointer(item), "notify::position") { [weak self, weak view] in
                let position = gtk_list_item_get_position(item)
                // The largest number means that the item has no position (GTK_INVALID_LIST_POSITION).
                guard let self, let view, position != .max else { return }
                moved(view, to: Int(position))
            }
            cellCount += 1
            onSetup?(view)
        }

        private func bind(_ item: OpaquePointer?) {
            guard let item, let cell = ListCell.of(item) else { return }
            let position = Int(gtk_list_item_get_position(item))
            cell.position = position
            bound[ObjectIdentifier(cell)] = cell
            show(position, on: cell.view)
            visibilityChanged(of: cell)
        }

        private func show(_ position: Int, on view: WebImageView) {
            if let request = request(position) { view.load(request) } else { view.target.slots.clear() }
            onBind?(view, position)
        }

        /// Shows the item of another position in a cell that stays bound. GTK also reports the positions of cells that it
        /// binds again; nothing changes then.
        package func moved(_ view: WebImageView, to position: Int) {
            guard let cell = view.owner as? ListCell, let old = cell.position, position != old else { return }
            forget(cell)
            cell.position = position
            show(position, on: view)
            visibilityChanged(of: cell)
        }

        private func unbind(_ item: OpaquePointer?) {
            guard let item, let cell = ListCell.of(item) else { return }
            release(cell)
            cell.view.recycle()
        }

        private func tearDown(_ item: OpaquePointer?) {
            guard let item, let cell = ListCell.of(item) else { return }
            release(cell)
            cellCount -= 1
            gtk_list_item_set_child(item, nil)
        }

        private func release(_ cell: ListCell) {
            forget(cell)
            cell.position = nil
            bound[ObjectIdentifier(cell)] = nil
        }

        fileprivate func visibilityChanged(of cell: ListCell) {
            if let position = cell.position, cell.view.box.isVisible {
                visible[position] = cell.view
                preloadSoon()
            } else {
                forget(cell)
            }
        }

        /// Prefetching can begin once the size of a cell is known.
        fileprivate func wasLaidOut(_ cell: ListCell) {
            if let position = cell.position, visible[position] === cell.view { preloadSoon() }
        }

        private func forget(_ cell: ListCell) {
            guard let position = cell.position, visible[position] === cell.view else { return }
            visible[position] = nil
            preloadSoon()
        }

        /// Prefetches once for all cells that a turn of the loop has changed.
        private func preloadSoon() {
            guard ahead.isActive, !isPreloadDue else { return }
            isPreloadDue = true
            Task { @MainActor [weak self] in
                guard let self else { return }
                isPreloadDue = false
                guard let first = visible.keys.min(), let last = visible.keys.max() else { return }
                let size = visible.values.lazy.compactMap(\.box.size).first
                ahead.show(first..<last + 1, of: count(), size: size, fit: fit, request)
            }
        }
    }

    /// The view of a list item, which the item retains.
    @MainActor private final class ListCell {
        static let name = "wi-cell"
        let view: WebImageView
        var position: Int?
        weak var cells: ImageCells?

        init(_ view: WebImageView) {
            self.view = view
            view.owner = self
        }

        static func of(_ item: OpaquePointer) -> ListCell? {
            AttachedObjects.find(ListCell.self, of: UnsafeMutableRawPointer(item), as: name)
        }
    }

    extension ListCell: WebImageViewOwner {
        func viewWasLaidOut() { cells?.wasLaidOut(self) }
        func viewVisibilityChanged() { cells?.visibilityChanged(of: self) }
    }

    /// Prefetches the pictures that come next in a list, at the size of its cells.
    @MainActor private final class AheadOfList {
        private let prefetcher: ImagePrefetcher?
        private let wanted = WantedRequests()
        private var size: BoxSize?
        private lazy var preloader = prefetcher.map { prefetcher in
            ListPreloader(prefetcher: prefetcher) { [wanted] in wanted.take($0) }
        }

        init(_ prefetcher: ImagePrefetcher?) { self.prefetcher = prefetcher }

        var isActive: Bool { prefetcher != nil }

        func show(
            _ visible: Range<Int>, of count: Int, size: BoxSize?, fit: ContentFit,
            _ request: @escaping @MainActor (Int) -> ImageRequest?
        ) {
            guard let preloader, let size else { return }
            // Pictures of another size do not help any more.
            if let old = self.size, old != size { preloader.stop() }
            self.size = size
            wanted.set { position in
                guard var request = request(position) else { return [] }
                if request.size == nil, let fit = fit.decodedFit { request.size = TargetSize(size.pixels, fit: fit) }
                return [request]
            }
            preloader.show(visible, of: count)
        }

        /// Cancels the running loads. The next ``show(_:of:size:fit:_:)`` begins again.
        func stop() { preloader?.stop() }
    }

    /// Passes a function of the main actor to a preloader, which calls it during `show`, and so on the main actor.
    private final class WantedRequests: Sendable {
        @MainActor private var make: (@MainActor (Int) -> [ImageRequest])?

        @MainActor func set(_ make: @escaping @MainActor (Int) -> [ImageRequest]) { self.make = make }

        func take(_ position: Int) -> [ImageRequest] { MainActor.assumeIsolated { make?(position) ?? [] } }
    }
#endif
