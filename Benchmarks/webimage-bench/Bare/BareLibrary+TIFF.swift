#if TIFF
    import CSysTIFF

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    extension BareLibrary {
        static func decodeTIFF(_ bytes: [UInt8]) throws -> Int {
            // libtiff reads from a descriptor, here of an unnamed temporary file whose bytes are in the page cache.
            guard let stream = tmpfile() else { throw Failure() }
            defer { fclose(stream) }
            try check(fwrite(bytes, 1, bytes.count, stream) == bytes.count && fflush(stream) == 0)
            rewind(stream)
            // TIFFClose closes the descriptor.
            guard let tiff = TIFFFdOpen(dup(fileno(stream)), "picture.tif", "r") else { throw Failure() }
            defer { TIFFClose(tiff) }
            var image = TIFFRGBAImage()
            var message = [CChar](repeating: 0, count: 1024)
            try check(TIFFRGBAImageBegin(&image, tiff, 1, &message) == 1)
            defer { TIFFRGBAImageEnd(&image) }
            // Otherwise the rows would come from the bottom up.
            image.req_orientation = UInt16(ORIENTATION_TOPLEFT)
            let count = Int(image.width) * Int(image.height)
            let pixels = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
            defer { pixels.deallocate() }
            try check(TIFFRGBAImageGet(&image, pixels, image.width, image.height) == 1)
            return count * 4
        }
    }
#endif
