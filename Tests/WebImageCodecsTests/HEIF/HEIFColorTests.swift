#if HEIF
    import Testing
    import WebImageCore

    @testable import WebImageCodecs

    @Suite struct HEIFColorTests {
        @Test func codePointsSayTheColors() {
            let display = Array("nclx".utf8) + [0, 12, 0, 13, 0, 6, 0x80]
            let colors = ColorDescription(nclx: display)
            #expect(colors == ColorDescription(primaries: 12, transfer: 13, matrix: 6, isFullRange: true))
            #expect(ColorDescription(nclx: Array("nclx".utf8) + [1, 9, 0, 16, 0, 9, 0])?.primaries == 2)
            #expect(ColorDescription(nclx: Array(display.dropLast())) == nil)
            #expect(ColorDescription(nclx: Array("prof".utf8) + display.dropFirst(4)) == nil)
        }
    }
#endif
