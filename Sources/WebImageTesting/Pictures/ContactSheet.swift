package import WebImageCore

/// Lays out pictures with captions in a grid, as a single picture.
package struct ContactSheet {
    /// A place on the sheet.
    package struct Item {
        /// The upright picture, which is reduced if it is larger than its place; nil draws an empty frame with a cross.
        package var image: Image?
        /// The lines of the caption, in ASCII. The first line is emphasised, and long lines are cut.
        package var caption: [String]
        /// The colour of a dot before the caption, which can show the picture's source.
        package var accent: RGBColor?

        package init(image: Image?, caption: [String], accent: RGBColor? = nil) {
            self.image = image
            self.caption = caption
            self.accent = accent
        }
    }

    package var title: String
    /// The line below the title, in a dimmer colour.
    package var subtitle: String
    /// The number of columns. Default 5; fewer if there are fewer items.
    package var columns: Int
    /// The size of the place for each picture, in pixels. Default 240 x 180.
    package var place: PixelSize

    package init(
        title: String, subtitle: String = "", columns: Int = 5, place: PixelSize = PixelSize(width: 240, height: 180)
    ) {
        self.title = title
        self.subtitle = subtitle
        self.columns = columns
        self.place = place
    }

    private static let background = Ink(0x0F1116)
    private static let lower = Ink(0x171A22)
    private static let card = Ink(0x1E222C)
    private static let bright = Ink(0xE8EBF1)
    private static let dim = Ink(0x8B93A5)
    private static let brand = Ink(0x6EA8FE)

    private static let margin = 36
    private static let gap = 20
    private static let padding = 14
    private static let header = 104
    private static let lineHeight = 24

    /// Draws the sheet.
    ///
    /// - Throws: `limitExceeded` if the sheet would be too large to address.
    package func draw(_ items: [Item]) throws(WebImageError) -> Image {
        let columns = max(min(columns, items.count), 1)
        let rows = max((items.count + columns - 1) / columns, 1)
        let lines = items.map(\.caption.count).max() ?? 0
        let cardWidth = place.width + 2 * Self.padding
        let cardHeight = place.height + 2 * Self.padding + (lines == 0 ? 0 : lines * Self.lineHeight + 6)
        let gridWidth = columns * cardWidth + (columns - 1) * Self.gap
        let size = PixelSize(
            width: max(gridWidth, Canvas.textWidth(title, scale: 4) + 24) + 2 * Self.margin,
            height: Self.header + rows * cardHeight + (rows - 1) * Self.gap + 2 * Self.margin)
        return try Canvas.image(size, alpha: .opaque) { canvas in
            canvas.paint { _, y in Self.background.mixed(Float(y) / Float(size.height), with: Self.lower) }
            drawHeader(canvas)
            for (index, item) in items.enumerated() {
                let x = Self.margin + index % columns * (cardWidth + Self.gap)
                let y = Self.margin + Self.header + index / columns * (cardHeight + Self.gap)
                let area = PixelRect(
                    x: Double(x), y: Double(y), width: Double(cardWidth), height: Double(cardHeight))
                draw(item, canvas, area)
            }
        }
    }

    private func drawHeader(_ canvas: Canvas) {
        let x = Self.margin
        let bar = PixelRect(x: Double(x), y: Double(Self.margin), width: 8, height: 62)
        canvas.rectangle(bar, corner: 4, Self.brand)
        canvas.text(title, x: x + 24, y: Self.margin, scale: 4, Self.bright)
        canvas.text(subtitle, x: x + 24, y: Self.margin + 44, scale: 2, Self.dim)
    }

    private func draw(_ item: Item, _ canvas: Canvas, _ area: PixelRect) {
        let shadow = PixelRect(x: area.x, y: area.y + 6, width: area.width, height: area.height)
        canvas.rectangle(shadow, corner: 16, Ink(0, 0, 0), density: 0.45, softness: 22)
        canvas.rectangle(area, corner: 14, Self.card.mixed(0.35, with: Self.dim * 0.5))
        let inside = PixelRect(x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2)
        canvas.rectangle(inside, corner: 13, Self.card)
        let (left, top) = (Int(area.x) + Self.padding, Int(area.y) + Self.padding)
        if let image = item.image { draw(image, canvas, left, top) } else { drawMissing(canvas, left, top) }
        drawCaption(item, canvas, left, top + place.height + Self.padding)
    }

    private func draw(_ image: Image, _ canvas: Canvas, _ left: Int, _ top: Int) {
        let thumbnail = Thumbnail(image, fitting: place)
        let x = left + (place.width - thumbnail.width) / 2
        let y = top + (place.height - thumbnail.height) / 2
        let area = PixelRect(
            x: Double(x), y: Double(y), width: Double(thumbnail.width), height: Double(thumbnail.height))
        let corner = min(8, Float(min(thumbnail.width, thumbnail.height)) / 6)
        for row in 0..<thumbnail.height {
            for column in 0..<thumbnail.width {
                let cover = Canvas.cover(area, corner: corner, Float(x + column) + 0.5, Float(y + row) + 0.5)
                let (ink, alpha) = thumbnail.pixel(column, row)
                if alpha < 1 {
                    // Transparent parts show the checkerboard of picture editors.
                    let isLight = (column / 8 + row / 8).isMultiple(of: 2)
                    canvas.blend(x + column, y + row, isLight ? Ink(0x343A46) : Ink(0x2A2F39), cover)
                }
                canvas.blend(x + column, y + row, ink, alpha * cover)
            }
        }
    }

    private func drawMissing(_ canvas: Canvas, _ left: Int, _ top: Int) {
        let area = PixelRect(
            x: Double(left), y: Double(top), width: Double(place.width), height: Double(place.height))
        canvas.rectangle(area, corner: 8, Ink(0x2A1D22))
        let (x, y) = (Float(left) + Float(place.width) / 2, Float(top) + Float(place.height) / 2)
        let reach = Float(min(place.width, place.height)) / 7
        let ink = Ink(0xE5484D)
        canvas.line(from: (x - reach, y - reach), to: (x + reach, y + reach), width: 6, ink)
        canvas.line(from: (x - reach, y + reach), to: (x + reach, y - reach), width: 6, ink)
    }

    private func drawCaption(_ item: Item, _ canvas: Canvas, _ left: Int, _ top: Int) {
        for (number, line) in item.caption.enumerated() {
            let y = top + number * Self.lineHeight
            var (x, room) = (left, place.width)
            if number == 0, let accent = item.accent {
                canvas.disc(Float(x) + 6, Float(y) + 7, radius: 5, Ink(accent))
                x += 20
                room -= 20
            }
            let letters = max((room / 2 + 1) / BitmapFont.advance, 0)
            let fits = line.utf8.count <= letters
            let shown = fits ? line : String(line.prefix(max(letters - 2, 0))) + ".."
            canvas.text(shown, x: x, y: y, scale: 2, number == 0 ? Self.bright : Self.dim)
        }
    }
}
