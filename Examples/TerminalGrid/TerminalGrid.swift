// Shows pictures as squares in a terminal as they are loaded: swift run terminal-grid URL...
import Foundation
import WebImage

@MainActor final class Tile: ImageTarget {
    static let manager = ImageManager()
    static let side = 24
    private(set) lazy var slots = ImageSlots(of: self, manager: Self.manager)
    private let row: Int
    private let column: Int

    init(_ index: Int, columns: Int) {
        (row, column) = (index / columns * (Self.side / 2 + 2), index % columns * (Self.side + 2))
        slots.options.fitsTarget = .cover
        slots.resize(to: PixelSize(width: Self.side, height: Self.side))
    }

    // Each character is two pixels, one above the other: the upper half in one colour on the lower half in another.
    func setImage(_ image: Image?, in slot: SlotName) {
        for y in 0..<Self.side / 2 {
            var line = ""
            for x in 0..<Self.side {
                let (upper, lower) = (color(image, x, 2 * y), color(image, x, 2 * y + 1))
                line += "\u{1B}[38;2;\(upper)m\u{1B}[48;2;\(lower)m\u{2580}"
            }
            write(line, line: y)
        }
    }

    func slot(_ slot: SlotName, didChange state: SlotState) {
        let text = state.error.map { "\($0.code.name)" } ?? state.fraction.map { "\(Int($0 * 100)) %" } ?? "..."
        write(text + "   ", line: Self.side / 2)
    }

    private func color(_ image: Image?, _ x: Int, _ y: Int) -> String {
        guard let image, x < image.size.width, y < image.size.height else { return "40;40;40" }
        return image.withPixels { pixels in
            let at = y * image.pixels.bytesPerRow + x * 4
            return "\(pixels[at]);\(pixels[at + 1]);\(pixels[at + 2])"
        }
    }

    private func write(_ text: String, line: Int) {
        print("\u{1B}[\(row + line + 1);\(column + 1)H\(text)\u{1B}[0m", terminator: "")
        // Terminals get whole lines only, if nothing else is said.
        fflush(nil)
    }
}

@main @MainActor struct TerminalGrid {
    static func main() async {
        print("\u{1B}[2J", terminator: "")
        let urls = CommandLine.arguments.dropFirst()
        let loads = urls.enumerated().map { index, url in
            let tile = Tile(index, columns: 3)
            return Task { _ = try? await tile.slots[.image].show(ImageRequest(url)) }
        }
        for load in loads { await load.value }
        print("\u{1B}[\((urls.count + 2) / 3 * (Tile.side / 2 + 2) + 1);1H")
    }
}
