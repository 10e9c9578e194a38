import WebImageCore

extension PixelBuffer {
    /// Makes the pixels outside of round corners transparent, in place, for a buffer that no image holds yet.
    ///
    /// - Parameters:
    ///   - radius: in pixels, positive, at most half of the shorter side.
    ///   - isPremultiplied: whether colours are scaled with the alpha.
    func roundCorners(radius: Double, isPremultiplied: Bool) {
        let reach = min(Int(radius.rounded(.up)), min(size.width, size.height))
        for y in 0..<reach {
            for x in 0..<reach {
                let coverage = Self.coverage(x, y, radius)
                // The rest of the row, including its middle, is inside: no pixel belongs to two corners.
                if coverage >= 1 { break }
                for (column, line) in [
                    (x, y), (size.width - 1 - x, y), (x, size.height - 1 - y),
                    (size.width - 1 - x, size.height - 1 - y),
                ] {
                    scale(column, line, by: coverage, isPremultiplied)
                }
            }
        }
    }

    /// The coverage of a pixel by the corner at the top left: exact along straight edges, with an error of less than a
    /// sixtieth elsewhere.
    private static func coverage(_ x: Int, _ y: Int, _ radius: Double) -> Double {
        let (across, down) = (radius - Double(x) - 0.5, radius - Double(y) - 0.5)
        guard across > 0, down > 0 else { return 1 }
        return min(max(radius - (across * across + down * down).squareRoot() + 0.5, 0), 1)
    }

    private func scale(_ x: Int, _ y: Int, by factor: Double, _ isPremultiplied: Bool) {
        let channels = isPremultiplied ? 0..<4 : 3..<4
        let place = row(y) + x * layout.bytesPerPixel
        switch layout {
        case .rgba8:
            let pixel = place.assumingMemoryBound(to: UInt8.self)
            for channel in channels { pixel[channel] = UInt8((Double(pixel[channel]) * factor).rounded()) }
        case .rgba16:
            let pixel = place.assumingMemoryBound(to: UInt16.self)
            for channel in channels { pixel[channel] = UInt16((Double(pixel[channel]) * factor).rounded()) }
        }
    }
}
