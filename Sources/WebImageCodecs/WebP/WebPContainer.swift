import CSysWebP
import WebImageCore

/// Puts metadata around an encoded picture (RFC 9649, 2.7).
enum WebPContainer {
    /// - Throws: `cannotEncode` when libwebpmux refuses.
    static func wrap(_ picture: [UInt8], _ metadata: EmbeddedMetadata) throws(WebImageError) -> [UInt8] {
        var output = WebPData()
        let mux = WebPMuxNew()
        defer {
            WebPMuxDelete(mux)
            WebPDataClear(&output)
        }
        var isDone = mux != nil && withData(picture) { WebPMuxSetImage(mux, &$0, 1) == WEBP_MUX_OK }
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

    private static func withData(_ bytes: [UInt8], _ body: (inout WebPData) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var data = WebPData(bytes: buffer.baseAddress, size: buffer.count)
            return body(&data)
        }
    }
}
