import CSysWebP
import WebImageCore

/// Puts metadata around an encoded picture or animation (RFC 9649, 2.7).
enum WebPContainer {
    /// - Throws: `cannotEncode` when libwebpmux refuses.
    static func wrap(_ picture: [UInt8], _ metadata: EmbeddedMetadata) throws(WebImageError) -> [UInt8] {
        var output = WebPData()
        var mux: OpaquePointer?
        defer {
            WebPMuxDelete(mux)
            WebPDataClear(&output)
        }
        var isDone = withData(picture) {
            mux = WebPMuxCreate(&$0, 1)
            return mux != nil
        }
        let chunks = [("ICCP", metadata.profile), ("EXIF", metadata.exif), ("XMP ", metadata.xmp)]
        for (name, bytes) in chunks where isDone && !bytes.isEmpty {
            isDone = withData(bytes) { WebPMuxSetChunk(mux, name, &$0, 1) == WEBP_MUX_OK }
        }
        isDone = isDone && WebPMuxAssemble(mux, &output) == WEBP_MUX_OK
        guard isDone, let bytes = output.bytes else {
            throw WebImageError(.cannotEncode, "libwebpmux cannot add the metadata to the picture", format: .webp)
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: output.size))
    }

    /// Marks an animation as having transparent pixels (RFC 9649, 2.7.1.1).
    static func announceAlpha(_ file: inout [UInt8]) {
        let (animation, alpha): (UInt8, UInt8) = (0x02, 0x10)
        guard file.count > 20, file[12..<16].elementsEqual("VP8X".utf8), file[20] & animation != 0 else { return }
        file[20] |= alpha
    }

    private static func withData(_ bytes: [UInt8], _ body: (inout WebPData) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var data = WebPData(bytes: buffer.baseAddress, size: buffer.count)
            return body(&data)
        }
    }
}
