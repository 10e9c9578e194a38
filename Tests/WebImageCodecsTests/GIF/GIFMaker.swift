import WebImageTesting

/// Writes GIFs with a plain LZW coder, and states what a browser would show of their first frame.
struct GIFMaker {
    struct Frame {
        var x = 0
        var y = 0
        var width: Int
        var height: Int
        var indices: [UInt8]
        var table: [[UInt8]] = []
        var isInterlaced = false
        var transparentIndex: UInt8?
    }

    var width: Int
    var height: Int
    var version = "GIF89a"
    /// The global colour table, whose count is a power of two; empty for none.
    var table: [[UInt8]] = []
    var frames: [Frame]
    var loopCount: UInt16?
    /// Extension blocks before the first frame.
    var extensions: [UInt8] = []
    /// The number of bits of an index, 2 to 8.
    var codeSize = 8
    /// Whether the LZW coder clears its table when the table is full.
    var clearsTable = true

    /// The file without the trailer.
    var open: [UInt8] {
        var bytes = Array(version.utf8) + word(width) + word(height) + [flags(table), 0, 0] + table.flatMap { $0 }
        if let loopCount {
            bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + word(Int(loopCount)) + [0]
        }
        bytes += extensions
        for frame in frames {
            if let index = frame.transparentIndex { bytes += [0x21, 0xF9, 4, 1, 0, 0, index, 0] }
            let interlaced: UInt8 = frame.isInterlaced ? 0x40 : 0
            bytes += [0x2C] + word(frame.x) + word(frame.y) + word(frame.width) + word(frame.height)
            bytes += [flags(frame.table) | interlaced] + frame.table.flatMap { $0 } + [UInt8(codeSize)]
            bytes += Self.blocks(compress(stored(frame)))
        }
        return bytes
    }

    var file: [UInt8] { open + [0x3B] }

    /// The canvas with the first frame, as straight RGBA. The canvas grows as far as the frame needs.
    var shown: [UInt8] {
        let (width, height) = (max(width, frames[0].x + frames[0].width), max(height, frames[0].y + frames[0].height))
        var canvas = [UInt8](repeating: 0, count: width * height * 4)
        let frame = frames[0]
        let colors = frame.table.isEmpty ? table : frame.table
        for row in 0..<frame.height {
            for column in 0..<frame.width {
                let index = frame.indices[row * frame.width + column]
                guard index != frame.transparentIndex else { continue }
                let color = Int(index) < colors.count ? colors[Int(index)] : [0, 0, 0]
                let at = ((frame.y + row) * width + frame.x + column) * 4
                canvas.replaceSubrange(at..<at + 4, with: color + [255])
            }
        }
        return canvas
    }

    /// The data in sub-blocks, with the empty sub-block that ends them.
    static func blocks(_ data: [UInt8]) -> [UInt8] {
        stride(from: 0, to: data.count, by: 255).flatMap { start in
            let piece = data[start..<min(start + 255, data.count)]
            return [UInt8(piece.count)] + piece
        } + [0]
    }

    /// Packs codes of the given widths in bits into bytes.
    static func pack(_ codes: [(code: Int, width: Int)]) -> [UInt8] {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for (code, width) in codes {
            bits |= code << count
            count += width
            while count >= 8 {
                bytes.append(UInt8(bits & 255))
                bits >>= 8
                count -= 8
            }
        }
        return count > 0 ? bytes + [UInt8(bits)] : bytes
    }

    static func random(seed: UInt64) -> GIFMaker {
        var generator = SeededGenerator(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func colors(_ bits: Int) -> [[UInt8]] {
            (0..<1 << bits).map { _ in (0..<3).map { _ in UInt8(number(0...255)) } }
        }
        let codeSize = number(2...8)
        let size = (number(1...40), number(1...40))
        let isLarge = seed % 8 == 0
        var frame = Frame(width: number(1...(isLarge ? 220 : 40)), height: number(1...(isLarge ? 90 : 40)), indices: [])
        let repeats = number(0...3)
        for index in 0..<frame.width * frame.height {
            let isNew = index == 0 || number(0...3) >= repeats
            frame.indices.append(isNew ? UInt8(number(0...(1 << codeSize) - 1)) : frame.indices[index - 1])
        }
        if number(0...1) == 0 { (frame.x, frame.y) = (number(0...20), number(0...20)) }
        frame.isInterlaced = number(0...1) == 0
        if number(0...1) == 0 { frame.transparentIndex = UInt8(number(0...(1 << codeSize) - 1)) }
        if number(0...1) == 0 { frame.table = colors(number(1...codeSize)) }
        let canvas = number(0...1) == 0 ? size : (frame.width, frame.height)
        return GIFMaker(
            width: canvas.0, height: canvas.1, table: number(0...3) == 0 ? [] : colors(codeSize), frames: [frame],
            codeSize: codeSize, clearsTable: number(0...1) == 0)
    }

    private func flags(_ table: [[UInt8]]) -> UInt8 {
        table.isEmpty ? 0 : 0x80 | UInt8(table.count.trailingZeroBitCount - 1)
    }

    private func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }

    /// The frame's indices, with the rows in the order in which they are stored.
    private func stored(_ frame: Frame) -> [UInt8] {
        guard frame.isInterlaced else { return frame.indices }
        let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: frame.height, by: $1)) }
        return order.flatMap { frame.indices[$0 * frame.width..<($0 + 1) * frame.width] }
    }

    private func compress(_ indices: [UInt8]) -> [UInt8] {
        let clear = 1 << codeSize
        var (codes, width, next) = ([(code: clear, width: codeSize + 1)], codeSize + 1, clear + 2)
        var known: [[UInt8]: Int] = [:]
        func code(_ run: [UInt8]) -> Int { run.count == 1 ? Int(run[0]) : known[run] ?? 0 }
        var run: [UInt8] = []
        for index in indices {
            if run.isEmpty || known[run + [index]] != nil {
                run.append(index)
                continue
            }
            codes.append((code(run), width))
            if next < 4096 {
                known[run + [index]] = next
                // A reader adds each code one step later than the writer.
                if next == 1 << width { width += 1 }
                next += 1
            } else if clearsTable {
                codes.append((clear, width))
                (width, next, known) = (codeSize + 1, clear + 2, [:])
            }
            run = [index]
        }
        if !run.isEmpty { codes.append((code(run), width)) }
        if next == 1 << width, width < 12 { width += 1 }
        return Self.pack(codes + [(clear + 1, width)])
    }
}
