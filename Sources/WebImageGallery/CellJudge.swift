import WebImage

/// What a cell that should show the picture of a number shows, according to some of its pixels.
enum CellSight: Equatable {
    /// Its picture, and nothing else.
    case picture
    /// Its picture, fading in over the background.
    case fading
    /// The background.
    case background
    /// Something else: a pixel of this colour.
    case wrong([UInt8])

    /// - Parameters:
    ///   - pixels: red, green and blue at some points of the cell where nothing is drawn over the picture.
    ///   - number: the number of the picture that the cell should show.
    init(_ pixels: [[UInt8]], of number: Int) {
        let sights = pixels.map { Self.sight($0, of: number) }
        if let wrong = sights.first(where: { if case .wrong = $0 { true } else { false } }) {
            self = wrong
        } else if sights.allSatisfy({ $0 == .picture }) {
            self = .picture
        } else {
            self = sights.allSatisfy { $0 == .background } ? .background : .fading
        }
    }

    /// The colour must lie between the background's and the picture's.
    private static func sight(_ pixel: [UInt8], of number: Int) -> CellSight {
        let (from, to) = (NumberedOrigin.background.map(Double.init), NumberedOrigin.color(number).map(Double.init))
        let way = zip(from, to).map { $1 - $0 }
        let gone = zip(from, pixel).map { Double($1) - $0 }
        let part = zip(way, gone).map(*).reduce(0, +) / way.map { $0 * $0 }.reduce(0, +)
        let offset = zip(way, gone).map { abs($1 - $0 * part) }.max() ?? 0
        guard offset <= 3, part > -0.03, part < 1.03 else { return .wrong(pixel) }
        if part > 0.98 { return .picture }
        return part < 0.02 ? .background : .fading
    }
}
