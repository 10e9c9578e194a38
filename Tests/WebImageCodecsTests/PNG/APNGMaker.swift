import WebImageTesting

/// Makes APNG files of every kind, and states what each frame looks like, by a compositor of its own.
struct APNGMaker {
    struct Frame {
        var x = 0
        var y = 0
        /// The frame's samples, which have the file's colour type and depth.
        var picture: PNGMaker
        /// The delay in seconds, as numerator and denominator.
        var delay = (1, 10)
        var disposal = 0
        var blend = 0
        /// The number of chunks into which the frame's data is split.
        var parts = 1
    }

    var frames: [Frame]
    var plays = 0
    /// A still picture that is not one of the frames; nil if the first frame is the still.
    var hidden: PNGMaker?
    /// The number of frames in `acTL`; nil for the true number.
    var announced: Int?
    /// Added to the sequence number of each chunk from this one on.
    var sequenceFault: (from: Int, by: Int)?
    /// Changes the fields of each frame's control chunk.
    var changeControl: (Int, inout [UInt8]) -> Void = { _, _ in }

    private var still: PNGMaker { hidden ?? frames[0].picture }

    func file() -> [UInt8] {
        var sequence = 0
        func number() -> [UInt8] {
            defer { sequence += 1 }
            let fault = sequenceFault.map { sequence >= $0.from ? $0.by : 0 } ?? 0
            return big(sequence + fault, 4)
        }
        var out = still.header()
        if still.color == .palette { out += PNGMaker.chunk("PLTE", still.palette.flatMap { $0.prefix(3) }) }
        if let transparency = still.transparency { out += PNGMaker.chunk("tRNS", transparency) }
        out += PNGMaker.chunk("acTL", big(announced ?? frames.count, 4) + big(plays, 4))
        if let hidden { out += PNGMaker.chunk("IDAT", hidden.data()) }
        for (index, frame) in frames.enumerated() {
            var control = big(frame.picture.width, 4) + big(frame.picture.height, 4) + big(frame.x, 4)
            control += big(frame.y, 4) + big(frame.delay.0, 2) + big(frame.delay.1, 2)
            control += [UInt8(frame.disposal), UInt8(frame.blend)]
            changeControl(index, &control)
            out += PNGMaker.chunk("fcTL", number() + control)
            let data = frame.picture.data()
            for part in 0..<frame.parts {
                let piece = Array(data[data.count * part / frame.parts..<data.count * (part + 1) / frame.parts])
                let isStill = hidden == nil && index == 0
                out += isStill ? PNGMaker.chunk("IDAT", piece) : PNGMaker.chunk("fdAT", number() + piece)
            }
        }
        return out + PNGMaker.chunk("IEND", [])
    }

    /// The canvas after each frame, as straight RGBA (APNG specification, "fcTL").
    func shown() -> [[UInt8]] {
        let (width, height) = (still.width, still.height)
        var canvas = [UInt8](repeating: 0, count: width * height * 4)
        return frames.enumerated().map { index, frame in
            let before = canvas
            let pixels = frame.picture.expectedBytes().bytes
            forEachPixel(of: frame, width) { from, to in
                let pixel = pixels[from..<from + 4]
                if frame.blend == 0 || pixel[from + 3] == 255 { canvas.replaceSubrange(to..<to + 4, with: pixel) }
                // Transparent pixels leave the canvas unchanged. Translucent pixels do not occur here.
            }
            defer {
                if frame.disposal == 1 || frame.disposal == 2 && index == 0 {
                    forEachPixel(of: frame, width) { _, to in
                        canvas.replaceSubrange(to..<to + 4, with: [0, 0, 0, 0])
                    }
                } else if frame.disposal == 2 {
                    canvas = before
                }
            }
            return canvas
        }
    }

    private func forEachPixel(of frame: Frame, _ width: Int, _ body: (Int, Int) -> Void) {
        for row in 0..<frame.picture.height {
            for column in 0..<frame.picture.width {
                body((row * frame.picture.width + column) * 4, ((frame.y + row) * width + frame.x + column) * 4)
            }
        }
    }

    /// Frames of all kinds, whose pixels are transparent or opaque.
    static func random(seed: UInt64) -> APNGMaker {
        var generator = SeededGenerator(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        let kinds: [(PNGMaker.Color, Int, Bool)] = [
            (.rgba, 8, false), (.rgba, 16, false), (.palette, 4, true), (.palette, 8, false), (.rgb, 8, true),
            (.grey, 2, true), (.greyAlpha, 8, false),
        ]
        let kind = kinds[Int(seed) % kinds.count]
        let canvas = (number(1...24), number(1...24))
        var first = PNGMaker.random(
            kind.0, depth: kind.1, size: canvas, isInterlaced: seed % 3 == 0, isKeyed: kind.2, seed: seed)
        first.makeHard()
        var maker = APNGMaker(frames: [], plays: number(0...3))
        if number(0...2) == 0 { maker.hidden = first }
        for index in 0..<number(1...9) {
            let isFirst = index == 0 && maker.hidden == nil
            let size = isFirst ? canvas : (number(1...canvas.0), number(1...canvas.1))
            var picture = PNGMaker.random(
                kind.0, depth: kind.1, size: size, isInterlaced: first.isInterlaced, isKeyed: false,
                seed: seed * 100 + UInt64(index))
            (picture.palette, picture.transparency) = (first.palette, first.transparency)
            picture.makeHard()
            maker.frames.append(
                Frame(
                    x: number(0...canvas.0 - size.0), y: number(0...canvas.1 - size.1), picture: picture,
                    delay: (number(0...300), number(0...100)), disposal: number(0...2), blend: number(0...1),
                    parts: number(1...4)))
        }
        return maker
    }
}

extension PNGMaker {
    /// The compressed data of all `IDAT` chunks.
    func data() -> [UInt8] {
        let bytes = file()
        var (place, data) = (8, [UInt8]())
        while place < bytes.count {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[place + 4..<place + 8].elementsEqual("IDAT".utf8) { data += bytes[place + 8..<place + 8 + length] }
            place += length + 12
        }
        return data
    }

    /// Makes every pixel opaque or transparent.
    fileprivate mutating func makeHard() {
        let most = UInt16((1 << depth) - 1)
        if color == .rgba || color == .greyAlpha {
            for index in stride(from: channels - 1, to: samples.count, by: channels) {
                samples[index] = samples[index] > most / 2 ? most : 0
            }
        }
        guard color == .palette, transparency != nil else { return }
        for index in palette.indices { palette[index][3] = palette[index][3] > 127 ? 255 : 0 }
        transparency = palette.map { $0[3] }
    }
}
