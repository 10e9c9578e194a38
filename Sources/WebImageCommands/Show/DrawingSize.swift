import WebImage

/// How large a picture is drawn.
struct DrawingSize: Sendable {
    /// Rows that are left for the caption and the prompt.
    private static let spareRows = 2

    /// What the picture is decoded to: inside the terminal, never larger than it is.
    let target: TargetSize
    /// The height of a dot by its width, where dots are not square; nil where they are, within a few hundredths.
    let dotAspect: Double?

    /// - Parameter wish: `--size`, in pixels: of the screen, or dots of half a letter where those are what is drawn.
    init(_ wish: (width: Int?, height: Int?)?, _ language: Terminal.Language, _ terminal: Terminal) {
        let rows = terminal.rows.map { max($0 - Self.spareRows, 1) }
        let cell = terminal.cell ?? Terminal.usualCell
        let (most, height): (Int, Int?)
        switch language {
        case .blocks:
            let aspect = Double(cell.height) / 2 / Double(cell.width)
            dotAspect = abs(aspect - 1) < 0.05 ? nil : aspect
            (most, height) = (terminal.columns, rows.map { $0 * 2 })
        case .kitty, .sixel:
            dotAspect = nil
            (most, height) = (terminal.columns * cell.width, rows.map { $0 * cell.height })
        }
        let aspect = dotAspect ?? 1
        /// Dots as pixels that are square.
        func pixels(_ dots: Int) -> Int { max(1, Int((Double(dots) * aspect).rounded(.down))) }
        if let wish {
            target = TargetSize(width: min(wish.width ?? most, most), height: wish.height.map(pixels))
        } else {
            target = TargetSize(width: most, height: height.map(pixels))
        }
    }

    /// The picture as it is drawn: upright, 8 bits, straight alpha, of as many pixels as there are dots.
    func fitted(_ image: Image) throws(WebImageError) -> Image {
        guard let dotAspect else { return image }
        let height = max(1, Int((Double(image.size.height) / dotAspect).rounded()))
        return try image.resized(
            to: TargetSize(width: image.size.width, height: height, fit: .fill, upscale: true))
    }
}
