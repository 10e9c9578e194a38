#if HEIF
    import WebImageCodecs
    import WebImageCore

    /// Makes HEIC image sequences of six small frames from HEVC pictures that x265 encoded. The first and the fifth
    /// picture do not depend on others. The second and the fourth are shown in exchanged order.
    package struct HEICSequenceMaker {
        /// The frames show a white square of 16 pixels on `background(of:)`, which is 8 pixels further right in each
        /// frame.
        package static let side = 64
        package static let count = 6
        package static func background(of frame: Int) -> [UInt8] {
            [UInt8(30 * frame), 100, UInt8(200 - 30 * frame), 255]
        }
        package static func square(of frame: Int) -> (x: Range<Int>, y: Range<Int>) {
            (8 * frame..<8 * frame + 16, 24..<40)
        }
        /// The alpha outside of the square.
        package static let clear: UInt8 = 40

        /// The times at which the frames are shown, in order of display, in thousandths of a second; then the end.
        private let times = [0, 100, 250, 300, 400, 500, 600]
        private let loops: Int?
        private let hasAlpha: Bool
        private let isPremultiplied: Bool
        private let matrix: [Int]
        private let properties: [UInt8]
        private let dataFirst: Bool
        private let claimed: Int?
        private let change: (inout [[UInt8]]) -> Void

        /// - Parameters:
        ///   - loops: the loop count: nil for no edit list, 0 for ever.
        ///   - matrix: the matrix that turns the frames.
        ///   - properties: further boxes in the description of the frames.
        ///   - dataFirst: whether the frames come before their description.
        ///   - claimed: the number of frames according to the tables; nil for the real number.
        ///   - change: changes the data of the colours.
        package init(
            loops: Int? = nil, hasAlpha: Bool = false, isPremultiplied: Bool = false,
            matrix: [Int] = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30], properties: [UInt8] = [],
            dataFirst: Bool = false, claimed: Int? = nil, change: @escaping (inout [[UInt8]]) -> Void = { _ in }
        ) {
            self.loops = loops
            self.hasAlpha = hasAlpha
            self.isPremultiplied = isPremultiplied
            self.matrix = matrix
            self.properties = properties
            self.dataFirst = dataFirst
            self.claimed = claimed
            self.change = change
        }

        package func file() -> [UInt8] {
            var colors = Self.colors
            change(&colors)
            let type = BoxWriter.box("ftyp", Array("hevc\0\0\0\0msf1mif1".utf8))
            let layers = hasAlpha ? [colors, Self.alphas] : [colors]
            let data = BoxWriter.box("mdat", layers.flatMap { $0.flatMap { $0 } })
            let length = movie(layers, start: 0).count
            let movie = movie(layers, start: type.count + (dataFirst ? 0 : length) + 8)
            return type + (dataFirst ? data + movie : movie + data)
        }

        private func movie(_ layers: [[[UInt8]]], start: Int) -> [UInt8] {
            var offset = start
            var tracks: [UInt8] = []
            for (index, layer) in layers.enumerated() {
                tracks += track(layer, isAlpha: index == 1, at: offset)
                offset += layer.reduce(0) { $0 + $1.count }
            }
            return BoxWriter.box("moov", BoxWriter.box("mvhd", [UInt8](repeating: 0, count: 100)) + tracks)
        }

        private func track(_ samples: [[UInt8]], isAlpha: Bool, at offset: Int) -> [UInt8] {
            let n = BoxWriter.number
            let end = times[times.count - 1]
            let duration = loops.map { $0 == 0 ? 0xFFFF_FFFF : $0 * end } ?? end
            var head = n(1, 4) + n(0, 8) + n(isAlpha ? 2 : 1, 4) + n(0, 4) + n(duration, 4) + n(0, 16)
            head += matrix.flatMap { n($0, 4) } + n(Self.side << 16, 4) + n(Self.side << 16, 4)
            var content = BoxWriter.box("tkhd", head)
            if loops != nil {
                content += BoxWriter.box(
                    "edts", BoxWriter.box("elst", n(1, 4) + n(1, 4) + n(end, 4) + n(0, 4) + n(1 << 16, 4)))
            }
            if isAlpha { content += BoxWriter.box("tref", BoxWriter.box("auxl", n(1, 4))) }
            if !isAlpha, isPremultiplied { content += BoxWriter.box("tref", BoxWriter.box("prem", n(2, 4))) }
            var entry = n(0, 6) + n(1, 2) + n(0, 16) + n(Self.side, 2) + n(Self.side, 2) + n(0, 50)
            entry += BoxWriter.box("hvcC", isAlpha ? Self.alphaConfiguration : Self.configuration)
            if isAlpha {
                entry += BoxWriter.box("auxi", n(0, 4) + Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))
            } else {
                entry += BoxWriter.box("colr", Array("nclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80]) + properties
            }
            // The display index of each picture, in decoding order.
            let shown = [0, 3, 2, 1, 4, 5]
            let offsets = shown.enumerated().flatMap { n(1, 4) + n(times[$1] - $0 * 100, 4) }
            var tables = BoxWriter.box("stsd", n(0, 4) + n(1, 4) + BoxWriter.box("hvc1", entry))
            tables += BoxWriter.box("stts", n(0, 4) + n(2, 4) + n(5, 4) + n(100, 4) + n(1, 4) + n(end - times[5], 4))
            tables += BoxWriter.box("ctts", n(1 << 24, 4) + n(6, 4) + offsets)
            tables += BoxWriter.box("stss", n(0, 4) + n(2, 4) + n(1, 4) + n(5, 4))
            tables += BoxWriter.box(
                "stsc", n(0, 4) + n(2, 4) + [1, 2, 1, 2, samples.count - 2, 1].flatMap { n($0, 4) })
            let count = claimed ?? samples.count
            tables += BoxWriter.box("stsz", n(0, 8) + n(count, 4) + samples.flatMap { n($0.count, 4) })
            // Two pictures are in the first chunk, the others in the second.
            let second = offset + samples[0].count + samples[1].count
            tables += BoxWriter.box("stco", n(0, 4) + n(2, 4) + n(offset, 4) + n(second, 4))
            let media = BoxWriter.box("mdhd", n(0, 12) + n(1000, 4) + n(end, 4) + n(0, 4))
            let handler = BoxWriter.box("hdlr", n(0, 8) + Array((isAlpha ? "auxv" : "pict").utf8) + n(0, 13))
            return BoxWriter.box(
                "trak",
                content + BoxWriter.box("mdia", media + handler + BoxWriter.box("minf", BoxWriter.box("stbl", tables))))
        }

        private static func bytes(_ text: String) -> [UInt8] { Base64.decoded(Array(text.utf8)) ?? [] }

        private static let configuration = bytes(
            "AQFgAAAAkAAAAAAAHvAA/P34+AAADwOgAAEAGEABDAH//wFgAAADAJAAAAMAAAMAHpWQCaEAAQAqQgEBAWAAAAMAkAAAAwAAAwAe"
                + "oCCBBZZWSSTK5uBAQMCAAAADAIAAAAUEogABAAdEAcFytCJA")
        private static let colors = [
            "AAAAiigBrwrg4wawbuf/0CeK/4PO0g6Jfr7+sTek+zaYBt9hHsp/92Sw/dAefEydwmf5+aEpVBVyamA082RLkKyD4h+2KMiEYvFf"
                + "KEtdf3QNZX93rbZ0395vn9zUzBLTTBNDKk+fcCh7us//6sFufc7dPy196O6ka4FNv90h8J+K2fwg/Sfnn/45/CjUyg==",
            "AAAAKgIB0BlfhHBGDgB2oB3lYVT7IlLut/U8t70k/0ghMMa4bzAYBaigqj2QYA==",
            "AAAAKgIB4ESX4YTQ+SuW+Mnp5q6//JNd+Fti+YJkt41ITrOMj1+CPtN8G6J7Eg==",
            "AAAAFgAB4CT/+iwjgOl8VaHOoD8ohXlQ3YA=",
            "AAAAUygBrwvg4wLcU6fDf/8ey//7hvsup+Z6tLgB6wPWPP/zx3qUpbN+XrAvNi6Lm8/XeUY5fOo+kpNt+rQWFqFDQ+v7sBobcIll"
                + "44Q0LYMeAzTWTj2G",
            "AAAANgIB0Al+EFzjgeDwIgQYVb9duSYv/0gNmHKQL+wruNmtxbo34Nahdptb2QlciSB5faYcg0w5gA==",
        ].map { bytes($0) }
        private static let alphaConfiguration = bytes(
            "AQQIAAAAn8gAAAAAHvAA/Pz4+AAADwOgAAEAF0ABDAH//wQIAAADAJ/IAAADAAAelZAJoQABACdCAQEECAAAAwCfyAAAAwAAHsCC"
                + "BBZZWSSTK5sCAAADAAIAAAMAFBCiAAEAB0QBwXK0IkA=")
        private static let alphas = [
            "AAAAOCgBrhXA4hLW/f/7xk6vM+4n2SykmwRwADsKoa4iaeYGRwN49hCxNA4//2SyptFh//lbaXZlt0qA",
            "AAAAHgIB0BlfCDCq9z7w6fsAX8t9BR2CDmVMG5rbunr17A==",
            "AAAADgIB4ESXwwmgvd8J4RS4",
            "AAAACwAB4CT/9FhHQ+Jw",
            "AAAAMygBrhfAQxJj//4ZHJ5d5An/8GWX/PXRjH2lDM4+o+5AX1/1aCwubx3opbF85Ym5ym2wsA==",
            "AAAADgIB0Al8IMKo7lTQWDdM",
        ].map { bytes($0) }
    }
#endif
