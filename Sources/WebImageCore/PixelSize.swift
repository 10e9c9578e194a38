/// A width and a height in whole pixels.
public struct PixelSize: Hashable, Sendable, Codable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Width times height; nil if it does not fit an `Int` or a side is negative.
    public var pixelCount: Int? {
        guard width >= 0, height >= 0 else { return nil }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : count
    }

    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// Width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Whether both sides of this size are at least as long as those of `other`.
    package func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }
}

extension PixelSize: CustomStringConvertible {
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels. Its values may be fractions, since a centred crop may begin between two pixels.
public struct PixelRect: Hashable, Sendable, Codable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The rectangle of a whole picture of this size.
    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }
}
