/// A GIF whose frames each have a single colour: red, green, blue, white, red ...
package enum BlinkingGIF {
    package static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]

    package static func file(width: Int, height: Int, frames: Int, hundredths: Int = 5, loops: Int? = 0) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + word(width) + word(height) + [0x81, 0, 0] + colors.flatMap { $0 }
        if let loops { bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + word(loops) + [0] }
        for frame in 0..<frames { bytes += self.frame(frame % 4, width, height, hundredths) }
        return bytes + [0x3B]
    }

    /// The number of bytes up to the end of the first frame.
    package static func endOfFirstFrame(width: Int, height: Int) -> Int {
        file(width: width, height: height, frames: 1).count - 1
    }

    private static func frame(_ color: Int, _ width: Int, _ height: Int, _ hundredths: Int) -> [UInt8] {
        let head =
            [0x21, 0xF9, 4, 0] + word(hundredths) + [0, 0, 0x2C, 0, 0, 0, 0] + word(width) + word(height) + [0, 2]
        // A clear code (4) before each index keeps all codes at three bits; 5 ends the data.
        let codes = (0..<width * height).flatMap { _ in [4, color] } + [5]
        var (data, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
        for code in codes {
            bits |= code << count
            count += 3
            while count >= 8 {
                data.append(UInt8(bits & 255))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        data.append(UInt8(bits))
        var blocks: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            blocks += [UInt8(block.count)] + block
        }
        return head + blocks + [0]
    }

    private static func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
}
