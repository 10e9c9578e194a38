#if AVIF
    import CSysAVIF
    import WebImageCore

    extension CollectedBytes {
        /// What libavif reads the bytes so far through; it waits for those that have not come. To be deallocated by the
        /// caller, after the decoder; it does not keep these bytes alive.
        func makeIO(limit: ByteCount) -> UnsafeMutablePointer<avifIO> {
            let io = UnsafeMutablePointer<avifIO>.allocate(capacity: 1)
            io.initialize(to: avifIO())
            io.pointee.sizeHint = UInt64(max(limit.bytes, 1))
            io.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            io.pointee.read = { io, _, offset, size, output in
                guard let data = io?.pointee.data, let output else { return AVIF_RESULT_IO_ERROR }
                let all = Unmanaged<CollectedBytes>.fromOpaque(data).takeUnretainedValue().all
                guard let offset = Int(exactly: offset), offset <= all.count, size <= all.count - offset else {
                    return AVIF_RESULT_WAITING_ON_IO
                }
                output.pointee.data = all.baseAddress.map { ($0 + offset).assumingMemoryBound(to: UInt8.self) }
                output.pointee.size = size
                return AVIF_RESULT_OK
            }
            return io
        }
    }
#endif
