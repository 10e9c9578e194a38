#if AVIF || HEIF || SVG || PDF || TIFF
    import WebImageCore

    /// The bytes of a picture so far, for libraries that need random access to a file. Never more than a limit.
    final class CollectedBytes {
        /// All bytes so far; valid until the next ``append(_:)``.
        private(set) var all = UnsafeRawBufferPointer(start: nil, count: 0)
        private var memory: AlignedMemory?
        private var capacity = 0
        /// The owner of `all` if the file came whole.
        private var file: WholeFile?
        private let limits: DecodeLimits
        private let format: ImageFormat

        init(_ limits: DecodeLimits, format: ImageFormat) {
            self.limits = limits
            self.format = format
        }

        deinit { memory?.deallocate() }

        var count: Int { all.count }

        /// Takes all bytes of a file without a copy.
        ///
        /// - Throws: `limitExceeded` if there are more than the limit.
        func take(_ file: WholeFile) throws(WebImageError) {
            try limits.check(byteCount: file.bytes.count, of: format)
            self.file = file
            all = file.bytes
        }

        /// - Throws: `limitExceeded` when there are more than the limit, or there is no memory for them.
        func append(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
            let wanted = count + bytes.count
            try limits.check(byteCount: wanted, of: format)
            if wanted > capacity { try grow(to: max(wanted, min(capacity * 2, limits.bytes.bytes))) }
            memory?.base.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
            all = UnsafeRawBufferPointer(start: memory?.base, count: wanted)
        }

        private func grow(to wanted: Int) throws(WebImageError) {
            let larger = try AlignedMemory(byteCount: wanted)
            if let start = all.baseAddress { larger.base.copyMemory(from: start, byteCount: count) }
            memory?.deallocate()
            memory = larger
            capacity = wanted
            file = nil
        }
    }
#endif
