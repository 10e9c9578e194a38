import WebImageCore

/// An encoder in a worker.
final class EncoderSession {
    private let encoder: Result<any AnimationEncoder, WebImageError>
    /// The picture whose pixels are arriving; a failure if there is no memory for it.
    private var arriving: Result<Arriving, WebImageError>?

    private struct Arriving {
        let picture: PictureToEncode
        let pixels: PixelBuffer
        /// How many bytes have arrived.
        var count = 0
    }

    init(_ opening: EncoderOpening, _ coders: [any ImageCoder]) {
        encoder = Result { () throws(WebImageError) in try opening.encoder(coders) }
    }

    func begin(_ picture: PictureToEncode) {
        arriving = Result { () throws(WebImageError) in
            Arriving(picture: picture, pixels: try PixelBuffer(size: picture.size, layout: picture.layout))
        }
    }

    /// Takes the next bytes of the picture. After the last ones the encoder gets it.
    ///
    /// - Throws: the encoder's errors, also if there is no encoder.
    func take(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        let encoder = try encoder.get()
        guard var arriving = try arriving?.get(), let start = bytes.baseAddress,
            bytes.count <= arriving.pixels.byteCount.bytes - arriving.count
        else { throw WebImageError(.cannotEncode, "the pixels do not belong to the picture") }
        (arriving.pixels.base + arriving.count).copyMemory(from: start, byteCount: bytes.count)
        arriving.count += bytes.count
        self.arriving = .success(arriving)
        guard arriving.count == arriving.pixels.byteCount.bytes else { return }
        self.arriving = nil
        try encoder.add(
            Image(pixels: arriving.pixels, info: arriving.picture.info), delay: arriving.picture.delay)
    }

    func finish() throws(WebImageError) -> [UInt8] { try encoder.get().finish() }
}
