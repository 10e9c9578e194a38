#if AVIF
    import CSysAVIF
    import WebImageCore

    /// The interface through which libavif reads the bytes so far; it waits for those that have not arrived. Must live
    /// as long as the decoder that has its ``io``.
    final class AVIFInput {
        /// Bytes that libavif sees instead of the file's own.
        struct Change {
            let offset: Int
            let bytes: [UInt8]

            var range: Range<Int> { offset..<offset + bytes.count }
        }

        let bytes: CollectedBytes
        let io: UnsafeMutablePointer<avifIO>
        var changes: [Change] = []
        /// How many bytes must have arrived before the last read that had to wait can succeed.
        private(set) var needed = 0
        /// The last piece that was read with a change: libavif uses it until the next read.
        private var changed: AlignedMemory?

        init(_ bytes: CollectedBytes, limit: ByteCount) {
            self.bytes = bytes
            io = UnsafeMutablePointer<avifIO>.allocate(capacity: 1)
            io.initialize(to: avifIO())
            io.pointee.sizeHint = UInt64(max(limit.bytes, 1))
            io.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            io.pointee.read = { io, _, offset, size, output in
                guard let data = io?.pointee.data, let output else { return AVIF_RESULT_IO_ERROR }
                let input = Unmanaged<AVIFInput>.fromOpaque(data).takeUnretainedValue()
                guard let offset = Int(exactly: offset) else { return AVIF_RESULT_WAITING_ON_IO }
                return input.read(offset, size, &output.pointee)
            }
        }

        deinit {
            io.deallocate()
            changed?.deallocate()
        }

        private func read(_ offset: Int, _ size: Int, _ output: inout avifROData) -> avifResult {
            let all = bytes.all
            guard offset <= all.count, size <= all.count - offset else {
                let (end, isTooLong) = offset.addingReportingOverflow(size)
                needed = isTooLong ? .max : end
                return AVIF_RESULT_WAITING_ON_IO
            }
            var start = all.baseAddress.map { $0 + offset }
            let piece = offset..<offset + size
            if changes.contains(where: { $0.range.overlaps(piece) }), let source = start {
                guard let copy = try? AlignedMemory(byteCount: size) else { return AVIF_RESULT_OUT_OF_MEMORY }
                changed?.deallocate()
                changed = copy
                copy.base.copyMemory(from: source, byteCount: size)
                for change in changes {
                    for at in change.range.clamped(to: piece) {
                        copy.base.storeBytes(
                            of: change.bytes[at - change.offset], toByteOffset: at - offset, as: UInt8.self)
                    }
                }
                start = UnsafeRawPointer(copy.base)
            }
            output.data = start?.assumingMemoryBound(to: UInt8.self)
            output.size = size
            return AVIF_RESULT_OK
        }
    }

    extension HEIFItems {
        /// Changes that make libavif decode the largest thumbnail of the primary picture, which it otherwise cannot;
        /// empty if there is none.
        var changesForThumbnail: [AVIFInput.Change] {
            var chosen = self
            chosen.chooseThumbnail(of: ["av01", "grid"])
            guard chosen.whole != nil, let copy = chosen.primary, let field = primaryField else { return [] }
            let number = (0..<field.count).reversed().map { UInt8(truncatingIfNeeded: copy >> (8 * $0)) }
            // References with an unknown type are ignored.
            let unknown = references.filter { $0.type == "thmb" && $0.from == copy }
                .map { AVIFInput.Change(offset: $0.typeField.lowerBound, bytes: Array("    ".utf8)) }
            return [AVIFInput.Change(offset: field.lowerBound, bytes: number)] + unknown
        }
    }
#endif
