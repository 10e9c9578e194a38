import WebImageCore

/// A frame of an APNG: a PNG of its own, and its place.
struct APNGFrame {
    var png: [UInt8] = []
    var region: PixelRegion
    /// In milliseconds.
    var ticks: Int
    /// Whether it is composited over the canvas, rather than replacing its pixels.
    var isOver = false

    /// The delay as a fraction of a second, as exact as two numbers of 16 bits can be.
    var delay: (numerator: Int, denominator: Int) {
        let most = Int(UInt16.max)
        let parts = [1000, 100, 10, 1].first { ticks * $0 <= most * 1000 } ?? 1
        return (min((ticks * parts + 500) / 1000, most), parts)
    }
}

/// Assembles an APNG (APNG specification) from frames that are PNG files; the first one's header applies to all.
struct APNGFile {
    /// The colour of transparent pixels in RGB frames, from the lowest byte on; nil: none.
    var leftOut: UInt32?
    private let announcement: [UInt8]
    private var bytes = PNGChunk.signature
    private var frameCount = 0
    private var sequence: UInt32 = 0

    init(frameCount: Int, loopCount: Int) {
        let plays = UInt32(clamping: loopCount) & 0x7FFF_FFFF
        announcement = PNGChunk.make("acTL", PNGChunk.big(UInt32(frameCount)) + PNGChunk.big(plays))
    }

    mutating func append(_ frame: APNGFrame) {
        let png = frame.png
        var place = PNGChunk.signature.count
        var hasControl = false
        while place < png.count {
            let end = place + Int(PNGChunk.number(png, at: place)) + 12
            let chunk = place..<end
            place = end
            guard png[chunk.lowerBound + 4..<chunk.lowerBound + 8].elementsEqual("IDAT".utf8) else {
                if frameCount == 0, !hasControl { bytes += png[chunk] }
                continue
            }
            if !hasControl { appendControl(frame) }
            hasControl = true
            if frameCount == 0 { bytes += png[chunk] } else { appendData(png, chunk) }
        }
        frameCount += 1
    }

    mutating func end() -> [UInt8] {
        bytes += PNGChunk.make("IEND", [])
        return bytes
    }

    private mutating func appendControl(_ frame: APNGFrame) {
        if frameCount == 0 {
            if let leftOut {
                let channels = [leftOut, leftOut >> 8, leftOut >> 16].flatMap { [0, UInt8($0 & 255)] }
                bytes += PNGChunk.make("tRNS", channels)
            }
            bytes += announcement
        }
        let region = frame.region
        let numbers = [region.width, region.height, region.x, region.y].flatMap { PNGChunk.big(UInt32($0)) }
        let delay = [frame.delay.numerator, frame.delay.denominator].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        bytes += PNGChunk.make("fcTL", nextNumber() + numbers + delay + [0, frame.isOver ? 1 : 0])
    }

    private mutating func appendData(_ png: [UInt8], _ chunk: Range<Int>) {
        let data = chunk.lowerBound + 8..<chunk.upperBound - 4
        let before = Array("fdAT".utf8) + nextNumber()
        bytes += PNGChunk.big(UInt32(data.count + 4)) + before
        bytes += png[data]
        bytes += PNGChunk.big(
            PNGChunk.checksum(
                PNGChunk.number(png, at: data.upperBound), of: data.count, behind: Array("IDAT".utf8),
                movedBehind: before))
    }

    private mutating func nextNumber() -> [UInt8] {
        defer { sequence += 1 }
        return PNGChunk.big(sequence)
    }
}
