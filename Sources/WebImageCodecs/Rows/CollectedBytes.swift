#if AVIF || HEIF || SVG || PDF || TIFF
    import WebImageCore

    /// The bytes of a picture so far, for libraries that go back and forth in a file. Never more than a limit.
    final class CollectedBytes {
        private(set) var count = 0
        private var capacity = 0
        private var memory: UnsafeMutableRawPointer?
        private let limits: DecodeLimits
        private let format: ImageFormat

        init(_ limits: DecodeLimits, format: ImageFormat) {
            self.limits = limits
            self.format = format
        }

        deinit { memory?.deallocate() }

        /// All of them; valid until the next ``append(_:)``.
        var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

        /// - Throws: `limitExceeded` when there are more than the limit.
        func append(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
            try limits.check(byteCount: count + bytes.count, of: format)
            if count + bytes.count > capacity {
                grow(to: max(count + bytes.count, min(capacity * 2, limits.bytes.bytes)))
            }
            memory?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }

        private func grow(to wanted: Int) {
            let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
            if let memory {
                larger.copyMemory(from: memory, byteCount: count)
                memory.deallocate()
            }
            memory = larger
            capacity = wanted
        }
    }
#endif
