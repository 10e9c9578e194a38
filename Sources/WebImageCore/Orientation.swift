/// How stored pixels must be turned to be upright: the eight values of EXIF tag 0x0112 (TIFF 6.0, "Orientation").
///
/// The name says where the stored first row and first column are in the upright picture.
public enum Orientation: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// 1: as stored.
    case up = 1
    /// 2: mirrored left to right.
    case upMirrored = 2
    /// 3: turned by 180 degrees.
    case down = 3
    /// 4: mirrored top to bottom.
    case downMirrored = 4
    /// 5: mirrored along the main diagonal (transposed).
    case leftMirrored = 5
    /// 6: the stored picture must be turned a quarter clockwise.
    case right = 6
    /// 7: mirrored along the other diagonal.
    case rightMirrored = 7
    /// 8: the stored picture must be turned a quarter counter-clockwise.
    case left = 8

    /// The orientation for a tag's value; values other than 1 to 8 count as upright.
    public init(tag: Int) {
        self = UInt8(exactly: tag).flatMap(Orientation.init(rawValue:)) ?? .up
    }

    /// True if applying the orientation exchanges width and height.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The size of the upright picture whose stored size is `stored`.
    public func displaySize(of stored: PixelSize) -> PixelSize { swapsSides ? stored.transposed : stored }

    /// The stored size whose upright picture has the size `display`.
    public func storedSize(of display: PixelSize) -> PixelSize { swapsSides ? display.transposed : display }
}

extension Orientation {
    /// Converts a rectangle of the upright picture to coordinates of the stored picture, whose size is `stored`.
    public func storedRect(of rect: PixelRect, stored: PixelSize) -> PixelRect {
        let (width, height) = (Double(stored.width), Double(stored.height))
        let sides = swapsSides ? (rect.height, rect.width) : (rect.width, rect.height)
        let origin: (Double, Double) =
            switch self {
            case .up: (rect.x, rect.y)
            case .upMirrored: (width - rect.x - rect.width, rect.y)
            case .down: (width - rect.x - rect.width, height - rect.y - rect.height)
            case .downMirrored: (rect.x, height - rect.y - rect.height)
            case .leftMirrored: (rect.y, rect.x)
            case .right: (rect.y, height - rect.x - rect.width)
            case .rightMirrored: (width - rect.y - rect.height, height - rect.x - rect.width)
            case .left: (width - rect.y - rect.height, rect.x)
            }
        return PixelRect(x: origin.0, y: origin.1, width: sides.0, height: sides.1)
    }
}
