import WebImage

/// Draws with DEC's sixel graphics (STD 070, chapter 9): bands of six rows, which are sent once for each colour.
enum SixelDrawing {
    /// The number of colours that nearly all terminals support for sixels.
    static let maxColors = 256

    static func bytes<Palette: ColorPalette>(of bitmap: Bitmap, by: Palette.Type) -> [UInt8] {
        var palette = Palette.make(for: bitmap, most: maxColors)
        let indices = dithered(bitmap, &palette)
        // 1: pixels that are not drawn stay unchanged. The numbers after the quote are the aspect ratio of pixels,
        // which are square, and the size.
        var output = Array("\u{1B}P0;1;0q\"1;1;\(bitmap.width);\(bitmap.height)".utf8)
        for (index, color) in palette.colors.enumerated() {
            let parts = [color.red, color.green, color.blue].map { "\((Int($0) * 100 + 127) / 255)" }
            output += Array("#\(index);2;\(parts.joined(separator: ";"))".utf8)
        }
        for top in stride(from: 0, to: bitmap.height, by: 6) {
            // -: moves to the next band. After the last band it would cost a line on the screen.
            if top > 0 { output.append(UInt8(ascii: "-")) }
            appendBand(indices, bitmap, top, to: &output)
        }
        return output + Array("\u{1B}\\\n".utf8)
    }

    /// The index of each pixel's colour, or -1 for pixels that are not drawn. The error of each pixel is passed on to
    /// the neighbours that follow it (Floyd and Steinberg, 1976).
    private static func dithered<Palette: ColorPalette>(_ bitmap: Bitmap, _ palette: inout Palette) -> [Int16] {
        var indices = [Int16](repeating: -1, count: bitmap.width * bitmap.height)
        let colors = palette.colors.map { Levels($0) }
        // Errors in sixteenths, with one further pixel on either side.
        let none = [Levels](repeating: Levels(), count: bitmap.width + 2)
        var (here, below) = (none, none)
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                guard let color = bitmap.color(x, y) else { continue }
                let wanted = (Levels(color) &+ ((here[x + 1] &+ Levels(repeating: 8)) &>> 4))
                    .clamped(lowerBound: Levels(), upperBound: Levels(repeating: 255))
                let index = palette.index(
                    of: RGBColor(red: UInt8(wanted[0]), green: UInt8(wanted[1]), blue: UInt8(wanted[2])))
                indices[y * bitmap.width + x] = Int16(index)
                let off = wanted &- colors[index]
                here[x + 2] &+= off &* 7
                below[x] &+= off &* 3
                below[x + 1] &+= off &* 5
                below[x + 2] &+= off
            }
            (here, below) = (below, none)
        }
        return indices
    }

    /// Appends six rows: for each colour a run of letters, one for each column, whose bits tell which rows have the
    /// colour.
    private static func appendBand(_ indices: [Int16], _ bitmap: Bitmap, _ top: Int, to output: inout [UInt8]) {
        var columns: [Int: [UInt8]] = [:]
        for y in top..<min(top + 6, bitmap.height) {
            for x in 0..<bitmap.width {
                let index = Int(indices[y * bitmap.width + x])
                guard index >= 0 else { continue }
                columns[index, default: [UInt8](repeating: 0, count: bitmap.width)][x] |= 1 << UInt8(y - top)
            }
        }
        for (number, (index, bits)) in columns.sorted(by: { $0.key < $1.key }).enumerated() {
            // $: moves back to the first column of the band.
            if number > 0 { output.append(UInt8(ascii: "$")) }
            output += Array("#\(index)".utf8)
            appendRuns(bits, to: &output)
        }
    }

    private static func appendRuns(_ bits: [UInt8], to output: inout [UInt8]) {
        let end = (bits.lastIndex { $0 != 0 } ?? -1) + 1
        var x = 0
        while x < end {
            var next = x + 1
            while next < end, bits[next] == bits[x] { next += 1 }
            let letter = bits[x] + 0x3F
            // The code for a repetition has at least three letters.
            output += next - x > 3 ? Array("!\(next - x)".utf8) + [letter] : Array(repeating: letter, count: next - x)
            x = next
        }
    }
}

/// Red, green and blue as numbers for calculations.
private typealias Levels = SIMD4<Int32>

extension SIMD4<Int32> {
    fileprivate init(_ color: RGBColor) { self.init(Int32(color.red), Int32(color.green), Int32(color.blue), 0) }
}
