#if JXL
    import CSysJXL

    /// Decompresses a `brob` box, which holds another box compressed by Brotli, with a libjxl decoder that gets a file
    /// with only that box.
    enum JXLCompressedBox {
        private static let start: [UInt8] =
            [0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]
            + [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)
        /// With another box after it, the end of the compressed one is an event; closing the input would make libjxl
        /// print a message about a missing picture.
        private static let end: [UInt8] = [0, 0, 0, 16] + Array("free".utf8) + [UInt8](repeating: 0, count: 8)
        private static let pieceLength = 16 << 10

        /// - Parameter box: the name of the inner box and its compressed contents.
        /// - Returns: nil when it is damaged, longer than `limit`, or libjxl has no Brotli.
        static func contents(of box: [UInt8], limit: Int) -> [UInt8]? {
            guard OpenedLibrary.libjxl.isAvailable, let handle = JxlDecoderCreate(nil),
                let length = UInt32(exactly: box.count + 8)
            else { return nil }
            defer { JxlDecoderDestroy(handle) }
            guard JxlDecoderSubscribeEvents(handle, Int32(JXL_DEC_BOX.rawValue)) == JXL_DEC_SUCCESS,
                JxlDecoderSetDecompressBoxes(handle, JXL_TRUE) == JXL_DEC_SUCCESS
            else { return nil }
            let file = start + withUnsafeBytes(of: length.bigEndian) { Array($0) } + Array("brob".utf8) + box + end
            return file.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress, JxlDecoderSetInput(handle, base, bytes.count) == JXL_DEC_SUCCESS
                else { return nil }
                return read(handle, limit: limit)
            }
        }

        private static func read(_ handle: OpaquePointer, limit: Int) -> [UInt8]? {
            let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: pieceLength)
            defer { piece.deallocate() }
            var contents: [UInt8] = []
            var isInBox = false
            while true {
                let status = JxlDecoderProcessInput(handle)
                if isInBox {
                    let left = JxlDecoderReleaseBoxBuffer(handle)
                    contents.append(contentsOf: UnsafeBufferPointer(start: piece, count: pieceLength - left))
                    guard contents.count <= limit else { return nil }
                }
                switch status {
                case JXL_DEC_BOX:
                    guard !isInBox else { return contents }
                    isInBox = isCompressed(handle)
                    guard isInBox else { continue }
                case JXL_DEC_BOX_NEED_MORE_OUTPUT: break
                // The following box is not reached if the compressed one is damaged.
                default: return isInBox && !contents.isEmpty ? contents : nil
                }
                guard JxlDecoderSetBoxBuffer(handle, piece, pieceLength) == JXL_DEC_SUCCESS else { return nil }
            }
        }

        private static func isCompressed(_ handle: OpaquePointer) -> Bool {
            var name: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
            return withUnsafeMutablePointer(to: &name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 4) { characters in
                    JxlDecoderGetBoxType(handle, characters, JXL_FALSE) == JXL_DEC_SUCCESS
                        && UInt8(bitPattern: characters[0]) == UInt8(ascii: "b")
                }
            }
        }
    }
#endif
