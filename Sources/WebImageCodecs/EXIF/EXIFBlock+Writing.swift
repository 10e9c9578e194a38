import WebImageCore

extension EXIFBlock {
    /// The properties of a picture that is written.
    struct Facts {
        /// The orientation of the file's pixels; upright if the format stores it in another place.
        var orientation: Orientation
        var density: PixelDensity?
        /// Whether the format stores the density itself; EXIF then must only not contradict it.
        var isDensityToldElsewhere: Bool
        var size: PixelSize
        /// Whether the file's colours are sRGB.
        var isStandardColor: Bool
    }

    /// A block with the content of `original`, except what is no longer true: orientation, size and colour space are
    /// those of the new file, and the thumbnail is removed.
    ///
    /// - Parameter original: nil: there is none. One that cannot be changed is left out.
    /// - Returns: empty if there is nothing to write.
    static func bytes(_ original: [UInt8]?, _ facts: Facts) -> [UInt8] {
        if var block = original.flatMap({ EXIFBlock($0) }) {
            block.removeThumbnail()
            block.set(facts.size)
            if facts.isStandardColor { block.setStandardColors() }
            block.agree(on: facts)
            // Last, so that it is right also in a block with overlapping parts.
            block.set(facts.orientation)
            if block.orientation == facts.orientation { return block.bytes }
        }
        var block = EXIFBlock()
        block.agree(on: facts)
        block.set(facts.orientation)
        return block == EXIFBlock() ? [] : block.bytes
    }

    private mutating func agree(on facts: Facts) {
        guard let density = facts.density else { return }
        guard let own = self.density else {
            if !facts.isDensityToldElsewhere { add(density) }
            return
        }
        let isSame =
            abs(own.horizontal - density.horizontal) < 0.5 && abs(own.vertical - density.vertical) < 0.5
        if !isSame { add(density) }
    }
}
