import WebImage

/// The size in which a picture is drawn.
struct DrawingSize: Sendable {
    /// The rows that are left for the caption and the prompt.
    private static let spareRows = 2

    /// The size to which the picture is decoded: it fits the terminal, and is never larger than the picture.
    let target: TargetSize
    /// The ratio of a dot's height to its width; nil if dots are square within a few hundredths.
    let dotAspect: Double?

    /// - Parameter wish: the value of `--size`: pixels of the screen, or dots of half a letter if those are drawn.
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
        /// Converts dots to square pixels.
        func pixels(_ dots: Int) -> Int { max(1, Int((Double(dots) * aspect).rounded(.down))) }
        if let wish {
            target = TargetSize(width: min(wish.width ?? most, most), height: wish.height.map(pixels))
        } else {
            target = TargetSize(width: most, height: height.map(pixels))
        }
    }

    /// The picture with one pixel for each dot: upright, 8 bits a channel, straight alpha.
    func fitted(_ image: Image) throws(WebImageError) -> Image {
        guard let dotAspect else { return image }
        let height = max(1, Int((Double(image.size.height) / dotAspect).rounded()))
        return try image.resized(
            to: TargetSize(width: image.size.width, height: height, fit: .fill, upscale: true))
    }
}
