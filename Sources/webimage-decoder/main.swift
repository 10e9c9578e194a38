import WebImageCodecs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// A worker process never reaches this line: its work begins before `main`, in every program that links the decoders.
let words =
    "webimage-decoder decodes pictures for programs that use WebImage, which start it (DecoderIsolation.program)\n"
_ = words.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
exit(2)
