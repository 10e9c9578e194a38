// What `print` shows of pictures: their properties, but not their pixels or bytes, which may be megabytes.

extension Image: CustomStringConvertible {
    /// `"Image(400x300, jpeg, opaque)"`.
    public var description: String {
        var parts = ["\(size)"]
        if let originalSize = info.originalSize, originalSize != size { parts[0] += " of \(originalSize)" }
        if let animation { parts.append("\(animation.frameCount) frames") }
        return "Image(\((parts + info.facts).joined(separator: ", ")))"
    }
}

extension Image.Info: CustomStringConvertible {
    /// `"Info(jpeg, opaque)"`.
    public var description: String { "Info(\(facts.joined(separator: ", ")))" }

    fileprivate var facts: [String] {
        var facts = [format?.rawValue, "\(alpha)"].compactMap(\.self)
        if orientation != .up { facts.append("orientation \(orientation.rawValue)") }
        if let iccProfile { facts.append("ICC profile \(ByteCount(iccProfile.count))") }
        if !metadata.isEmpty { facts.append("\(metadata)") }
        if isPartial { facts.append("partial") }
        return facts
    }
}

extension ImageHeader: CustomStringConvertible {
    /// `"ImageHeader(jpeg 4000x3000, orientation 6, 8 bit, ICC profile 3.0 KiB)"`.
    public var description: String {
        var facts = ["\(format.rawValue) \(size)"]
        if orientation != .up { facts.append("orientation \(orientation.rawValue)") }
        facts.append("\(bitDepth) bit")
        if colorModel != .rgb { facts.append("\(colorModel)") }
        if let paletteBits { facts.append("palette of \(1 << paletteBits)") }
        if hasAlpha { facts.append("alpha") }
        if isProgressive { facts.append("progressive") }
        if isVector { facts.append("vector") }
        if let frameCount, frameCount != 1 { facts.append("\(frameCount) frames") }
        if !otherSizes.isEmpty { facts.append("\(otherSizes.count + 1) sizes") }
        if let iccProfile { facts.append("ICC profile \(ByteCount(iccProfile.count))") }
        if !metadata.isEmpty { facts.append("\(metadata)") }
        return "ImageHeader(\(facts.joined(separator: ", ")))"
    }
}

extension ImageMetadata: CustomStringConvertible {
    /// `"EXIF 11.2 KiB, XMP 2.0 KiB, 72x72 dpi"`; `"no metadata"` when there is none.
    public var description: String {
        var facts: [String] = []
        if let exif { facts.append("EXIF \(ByteCount(exif.count))") }
        if let xmp { facts.append("XMP \(ByteCount(xmp.count))") }
        if let density { facts.append("\(density)") }
        return facts.isEmpty ? "no metadata" : facts.joined(separator: ", ")
    }
}

extension PixelDensity: CustomStringConvertible {
    /// `"300x300 dpi"`, to the nearest whole number.
    public var description: String { "\(Int(horizontal.rounded()))x\(Int(vertical.rounded())) dpi" }
}

extension ImageAnimation: CustomStringConvertible {
    /// `"ImageAnimation(320x240, 12 frames, 1.2 seconds)"`.
    public var description: String { "ImageAnimation(\(size), \(frameCount) frames, \(duration))" }
}
