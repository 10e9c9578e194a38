import WebImageDownload
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bodies with a `Content-Encoding`: the result must be the same however a body is divided into pieces, and wherever
/// its receiver pauses.
///
/// An input is a byte that chooses the coding, a byte that chooses the division into pieces, and the compressed body.
enum CodingFuzz {
    private enum Coding: String, CaseIterable {
        case gzip
        case deflate
        case brotli = "br"
        case zstd
    }

    /// The result of decompressing a body.
    private struct Unpacked {
        var bytes: [UInt8] = []
        var isBroken = false
        /// Whether the body is longer than the limit of the test.
        var isCut = false
        var isWhole = false
    }

    /// The limit of decompressed bytes, since a few bytes may expand to many.
    private static let maxBytes = 1 << 20
    private static let maxAtOnce = 64 << 10

    static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let coding = Coding.allCases[Int(input[0] & 3)]
        let body = Array(input.dropFirst(2))
        var random = SeededGenerator(seed: UInt64(input[1]))
        let longest = [1, 3, 64, 5000][Int(input[1] & 3)]
        let whole = unpack(body, coding, pieces: { body.count }, pauses: { false })
        let divided = unpack(
            body, coding, pieces: { 1 + random.below(longest) }, pauses: { input[1] & 4 != 0 && random.below(2) == 0 })
        let common = min(whole.bytes.count, divided.bytes.count)
        check(whole.bytes[..<common] == divided.bytes[..<common], coding, "the pieces change the bytes")
        if whole.isCut || divided.isCut { return }
        check(whole.isBroken == divided.isBroken, coding, "the pieces decide whether the body is damaged")
        if whole.isBroken { return }
        check(whole.bytes.count == divided.bytes.count, coding, "the pieces change the length")
        check(whole.isWhole == divided.isWhole, coding, "the pieces decide whether the body is whole")
    }

    private static func unpack(
        _ body: [UInt8], _ coding: Coding, pieces: () -> Int, pauses: () -> Bool
    ) -> Unpacked {
        var unpacked = Unpacked()
        guard let decoder = try? ContentDecoder(contentEncoding: coding.rawValue) else {
            fatalError("the library of \(coding.rawValue) is missing")
        }
        var start = 0
        while start < body.count {
            let piece = body[start..<min(start + pieces(), body.count)]
            var isPaused = false
            let outcome = GuardedBytes.with(piece) { bytes in
                decoder.decode(bytes) { made in
                    check(!made.isEmpty && made.count <= maxAtOnce, coding, "\(made.count) bytes at once")
                    check(!isPaused, coding, "bytes for a receiver that has paused")
                    unpacked.bytes += made
                    unpacked.isCut = unpacked.bytes.count > maxBytes
                    isPaused = unpacked.isCut || pauses()
                    return !isPaused
                }
            }
            if unpacked.isCut { return unpacked }
            switch outcome {
            case .consumed: start += piece.count
            case .stopped: check(isPaused, coding, "it stops although its receiver wants more")
            case .broken:
                unpacked.isBroken = true
                return unpacked
            }
        }
        unpacked.isWhole = decoder.isWhole
        return unpacked
    }

    private static func check(_ isTrue: Bool, _ coding: Coding, _ message: @autoclosure () -> String) {
        if !isTrue { fatalError("\(coding.rawValue): \(message())") }
    }

    /// Seeds: pictures and zeros, with several members or frames, with bytes after the end, and for pieces of several
    /// lengths.
    static var seeds: [(String, [UInt8])] {
        packed.enumerated().flatMap { number, one in
            (0..<8).map { way in
                let kind = UInt8(Coding.allCases.firstIndex(of: one.0) ?? 0)
                return ("\(one.0)-\(number)-\(way)", [kind, UInt8(way)] + bytes(one.1))
            }
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Bodies made with Python's `gzip`, `zlib`, `brotli` and `zstandard`.
    private static var packed: [(Coding, String)] {
        [
            (
                .gzip,
                "1f8b08080000000002ff612e73766700bdcdb10ec2300c04d05f89cc5e9b061694e4671237899416d45a98cfa774e8c6"
                    + "9a5bef74cf6def6c3e735b360f45e4f54054d541edf05c338e4484fb028cd624c5c38dc014aeb988074b10dcca51fe94"
                    + "66aaad79b8d011c0e07e57c1f510afcc535fd1a6c47dc57b8ce914bf072046d6c80100001f8b08000000000002ff4b4c"
                    + "4a0600c2412435030000000000"
            ),
            (
                .gzip,
                "1f8b08000000000002ffedc1010d000000c2a0f74f6d0f07140000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000fc18fbe2b2f6e0930400"
            ),
            (
                .deflate,
                "789cbdcdb10ec2300c04d05f89cc5e9b061694e4671237899416d45a98cfa774e8c69a5bef74cf6def6c3e735b360f45"
                    + "e4f54054d541edf05c338e4484fb028cd624c5c38dc014aeb988074b10dcca51fe9466aaad79b8d011c0e07e57c1f510"
                    + "afcc535fd1a6c47dc57b8ce914bfd4f78abd"
            ),
            (
                .deflate,
                "bdcdb10ec2300c04d05f89cc5e9b061694e4671237899416d45a98cfa774e8c69a5bef74cf6def6c3e735b360f45e4f5"
                    + "4054d541edf05c338e4484fb028cd624c5c38dc014aeb988074b10dcca51fe9466aaad79b8d011c0e07e57c1f510afcc"
                    + "535fd1a6c47dc57b8ce914bf"
            ),
            (
                .deflate,
                "010600f9ff73746f72656472657374"
            ),
            (
                .brotli,
                "1bc70100c4d639ed0d4b4f6c695b2a761c3a39c383f8b7d6bc0592459660040940a2f71c7a2e51947fdb7adeba123f07"
                    + "2d338b882ff17605c02c4f7036b11b0199eef44be0df166d908ad854eebfb90a95cc09218948a0bb07"
            ),
            (
                .brotli,
                "abffff000002800de0c0359cd46603b80087e5dbfb00faff0f002000d8000e5cc3496d36804b60e13d00f0ed7d007c4f"
                    + "020001c00670e01a4e6ab3015c020bef01802f17010c72657374"
            ),
            (
                .zstd,
                "28b52ffd64c800550300f285141780ab0e68e21a36536ec89391b17789ef7f91862941eb1277ad15ec5c3a9805a6987e"
                    + "812f29e381ba31a3d8377d357c9121fa125fb05d9ce8cf697477077d8c12a419cc39558da51b7e3589441ef49c460507"
                    + "0080d00ba464414aa28ebc4e58c4158e00b532033b5a60b3502a4d180300000061626328b52ffd2003190000616263"
            ),
            (
                .zstd,
                "28b52ffd00485400001000000100fbff39c00202001000039f040072657374"
            ),
        ]
    }
}

/// Bytes that end where an inaccessible page begins. The libraries are not instrumented, so that nothing else would
/// detect a library that reads beyond the end.
private enum GuardedBytes {
    private static let length = 64 << 10
    // Only the fuzzer's single thread uses it.
    nonisolated(unsafe) private static let end: UnsafeMutableRawPointer = {
        let page = 64 << 10
        let memory = mmap(nil, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED, mprotect(memory + length, page, PROT_NONE) == 0 else {
            fatalError("no memory")
        }
        return memory + length
    }()

    static func with<Result>(_ bytes: ArraySlice<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(bytes.count <= length, "an input is longer than what libFuzzer was told")
        let place = UnsafeMutableRawBufferPointer(start: end - bytes.count, count: bytes.count)
        place.copyBytes(from: bytes)
        return body(UnsafeRawBufferPointer(place))
    }
}
