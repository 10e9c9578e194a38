#if AVIF
    import WebImageCore

    /// The bits a channel with which a picture is written as AVIF: 8, 10 or 12.
    struct AVIFDepth {
        var bits: UInt32
        /// Whether the picture has no more bits than that.
        var keepsAll: Bool

        /// Pictures in memory have 8 or 16 bits a channel. From a file with 9 to 12 bits they are written with 10 or
        /// 12, otherwise with 10. For lossless encoding, pictures of 16 bits are written with 10 or 12 if that keeps
        /// all values.
        init(of image: Image, isLossless: Bool) {
            guard image.layout == .rgba16 else {
                (bits, keepsAll) = (8, true)
                return
            }
            let source = image.info.header?.bitDepth ?? 16
            if 9...12 ~= source {
                (bits, keepsAll) = (source > 10 ? 12 : 10, true)
            } else if isLossless,
                let exact = [UInt32(10), 12].first(where: { image.hasValues(ofBits: $0) })
            {
                (bits, keepsAll) = (exact, true)
            } else {
                (bits, keepsAll) = (10, false)
            }
        }
    }

    extension Image {
        /// Whether each value of 16 bits is one that results from widening a value of `bits` bits.
        fileprivate func hasValues(ofBits bits: UInt32) -> Bool {
            let most = 1 << bits - 1
            return withPixels { pixels in
                pixels.bindMemory(to: UInt16.self).allSatisfy { value in
                    let narrow = (Int(value) * most + 32_767) / 65_535
                    return (narrow * 65_535 + most / 2) / most == Int(value)
                }
            }
        }
    }
#endif
