import Testing
import WebImageCore

@Suite struct ValueTests {
    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (64 << 20, "64.0 MiB"),
        (3 << 30, "3.0 GiB"),
        (-2048, "-2.0 KiB"), (Int.max, "8.0 EiB"),
    ]) func bytesAreWrittenInBinaryUnits(bytes: Int, text: String) {
        #expect(ByteCount(bytes).description == text)
    }

    @Test func aPixelCountThatDoesNotFitIsNil() {
        #expect(PixelSize(width: Int.max, height: 2).pixelCount == nil)
        #expect(PixelSize(width: -1, height: 2).pixelCount == nil)
        #expect(PixelSize(width: 3, height: 2).pixelCount == 6)
    }

    @Test func limitsRefuseBeforeAnythingIsAllocated() {
        let limits = DecodeLimits(pixels: 100)
        #expect(throws: Never.self) { try limits.check(PixelSize(width: 10, height: 10)) }
        for (size, code) in [
            (PixelSize(width: 101, height: 1), WebImageError.Code.limitExceeded),
            (PixelSize(width: Int.max, height: Int.max), .limitExceeded),
            (PixelSize(width: 0, height: 5), .corruptData), (PixelSize(width: -3, height: 5), .corruptData),
        ] {
            do {
                try limits.check(size)
                Issue.record("\(size) was let through")
            } catch {
                #expect(error.code == code)
            }
        }
    }

    @Test func aBufferOfImpossibleSizeIsRefused() {
        #expect(throws: WebImageError.self) { try PixelBuffer(size: PixelSize(width: Int.max / 2, height: 2)) }
        #expect(throws: WebImageError.self) { try PixelBuffer(size: PixelSize(width: 0, height: 2)) }
    }

    @Test func anInvalidOrientationTagIsUpright() {
        #expect(Orientation(tag: 0) == .up && Orientation(tag: 9) == .up && Orientation(tag: -1) == .up)
        #expect(Orientation(tag: 6) == .right && Orientation.right.swapsSides && !Orientation.down.swapsSides)
    }

    /// The stored coordinates of the rectangle at the top left of the upright picture, for a stored picture of 40x20.
    /// EXIF's table says which stored corner becomes the upright top left.
    @Test(arguments: [
        (Orientation.up, 0.0, 0.0), (.upMirrored, 30, 0), (.down, 30, 15), (.downMirrored, 0, 15),
        (.leftMirrored, 0, 0), (.right, 0, 15), (.rightMirrored, 30, 15), (.left, 30, 0),
    ]) func theUprightCornerLiesWhereTheTagSays(orientation: Orientation, x: Double, y: Double) {
        let stored = PixelSize(width: 40, height: 20)
        let corner = PixelRect(
            x: 0, y: 0, width: orientation.swapsSides ? 5 : 10, height: orientation.swapsSides ? 10 : 5)
        let rect = orientation.storedRect(of: corner, stored: stored)
        #expect(rect == PixelRect(x: x, y: y, width: 10, height: 5))
    }

    @Test func keysAreEqualByTheirText() {
        #expect(CacheKey("a") == CacheKey("a"))
        #expect(CacheKey("a") != CacheKey("b"))
        #expect(CacheKey("a").variant("g1:1;").text == "a\u{1F}g1:1;")
        // The names of two different files that are equal as Unicode text.
        let (composed, decomposed) = (CacheKey("caf\u{E9}.jpg"), CacheKey("cafe\u{301}.jpg"))
        #expect(composed.text == decomposed.text && composed != decomposed)
        #expect(!decomposed.variant("g1:1;").isSameOrVariant(of: CacheKey("caf\u{E9}.jpg")))
        #expect(Set([composed, decomposed, CacheKey("caf\u{E9}.jpg")]).count == 2)
    }

    @Test func fannedOutRowsReachEverySinkOnce() throws {
        let (first, second) = (PixelBufferSink(), PixelBufferSink())
        let fan = FanOutSink([first, second])
        try fan.begin(RowFormat(size: PixelSize(width: 2, height: 3), layout: .rgba8, alpha: .opaque))
        for row in 0..<3 {
            try fan.band(at: row, count: 1).initializeMemory(as: UInt8.self, repeating: UInt8(row), count: 8)
            try fan.commit(at: row, count: 1)
        }
        for sink in [first, second] {
            let buffer = try #require(sink.buffer)
            #expect(buffer.withBytes { Array($0) } == (0..<3).flatMap { [UInt8](repeating: $0, count: 8) })
            #expect(sink.rowsDone == 3)
        }
    }

    @Test func rowsThatNeverCameAreTransparent() throws {
        let sink = PixelBufferSink()
        try sink.begin(RowFormat(size: PixelSize(width: 1, height: 2), layout: .rgba8, alpha: .opaque))
        sink.band(at: 0, count: 1).initializeMemory(as: UInt8.self, repeating: 9, count: 4)
        sink.commit(at: 0, count: 1)
        sink.clearMissingRows()
        #expect(sink.buffer?.withBytes { Array($0) } == [9, 9, 9, 9, 0, 0, 0, 0])
    }
}

@Suite struct ScaleSuffixTests {
    @Test(arguments: [
        ("icon@2x.png", 2), ("icon@3x.png", 3), ("icon.png", 1), ("a@2x.p", 1), ("icon@4x.png", 1), ("icon@2xpng", 1),
        ("https://example.com/icon%402x.png?v=1", 2), ("icon%402x.png", 1), ("http://example.com/a@3x.webp", 3),
        ("", 1),
    ])
    func aNameTellsItsScale(key: String, scale: Int) {
        #expect(ScaleSuffix.scale(ofKey: key) == scale)
    }

    @Test(
        arguments: [
            (.zero, "0 ms"), (.nanoseconds(400), "0 ms"), (.milliseconds(250), "250 ms"),
            (.nanoseconds(999_600_000), "1 s"), (.milliseconds(1500), "1.5 s"), (.nanoseconds(9_999_991_767), "10 s"),
            (.milliseconds(-1500), "-1.5 s"), (.seconds(15), "15 s"), (.seconds(119), "119 s"),
            (.seconds(120), "2 min"), (.seconds(150), "2.5 min"), (.seconds(300), "5 min"), (.seconds(7200), "2 h"),
            (.seconds(Int64.max), "1000000000000000 h"),
        ] as [(Duration, String)])
    func durationsAreShortInMessages(duration: Duration, text: String) {
        #expect(duration.inWords == text)
    }
}
