// The Swift snippets of the guides to views, word for word: see DocumentationSnippets.swift. Nothing here is called.
import Dispatch
import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// BindingAToolkit.md
private let manager = ImageManager()

@MainActor final class Tile: ImageTarget {
    private(set) lazy var slots = ImageSlots(of: self, manager: manager)

    func setImage(_ image: Image?, in slot: SlotName) { draw(image) }
}

extension Tile {
    fileprivate func draw(_ image: Image?) {}
}

@MainActor private struct BindingAToolkit {
    struct Widget {
        let width: Double
        let height: Double
        let scaleFactor: Double
    }

    func load(_ tile: Tile, gray: Image) {
        tile.slots.load("https://example.com/a.jpg") {
            $0.placeholder = gray
            $0.transition = .fade(.milliseconds(200))
        }
    }

    func fit(_ tile: Tile, _ widget: Widget) {
        tile.slots.options.fitsTarget = .cover
        tile.slots.resize(width: widget.width, height: widget.height, scale: widget.scaleFactor)
    }

    func play(_ image: Image, _ tile: Tile) {
        let player = AnimatedImagePlayer(image)
        player?.onFrame = { frame, _ in tile.draw(frame) }
        player?.play()
    }

    func serve() {
        var waiting = pollfd(fd: MainActorLoop.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, -1) >= 0 { MainActorLoop.serve() }
    }
}

@MainActor private final class Cell {
    func show(_ result: Result<ImageResponse, WebImageError>) {}
}

// GettingStarted.md
private func showOnTheMainActor(manager: ImageManager, request: ImageRequest, cell: Cell) {
    let onMain = CallbackExecutor { DispatchQueue.main.async(execute: $0) }
    let token = manager.load(request, on: onMain) { event in
        guard case .finished(let result) = event else { return }
        MainActor.assumeIsolated { cell.show(result) }
    }
    _ = token
}
