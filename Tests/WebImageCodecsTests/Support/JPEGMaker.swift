/// Makes JPEG files that our encoder does not write, for example in CMYK or with very many scans.
enum JPEGMaker {
    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let end: [UInt8] = [0xFF, 0xD9]

    /// A baseline CMYK picture of one colour, with these stored values.
    static func flatCMYK(_ ink: [UInt8], width: Int, height: Int, hasAdobeMarker: Bool) -> [UInt8] {
        var bits = BitWriter()
        for index in 0..<((width + 7) / 8) * ((height + 7) / 8) {
            for value in ink {
                let difference = index == 0 ? Int(value) - 128 : 0
                let size = Int.bitWidth - difference.magnitude.leadingZeroBitCount
                bits.write(size, 4)
                bits.write(difference < 0 ? difference + (1 << size) - 1 : difference, size)
                bits.write(0, 1)
            }
        }
        let adobe = marker(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])
        let components: [UInt8] = (1...4).flatMap { [UInt8($0), 0x11, 0] }
        let scan: [UInt8] = [4] + (1...4).flatMap { [UInt8($0), 0x00] } + [0, 63, 0]
        return start + (hasAdobeMarker ? adobe : []) + tables
            + marker(0xC0, [8] + big(height, 2) + big(width, 2) + [4] + components) + marker(0xDA, scan) + bits.bytes()
            + end
    }

    /// A grey picture of whole blocks of one colour each, which is given as the difference from 128. A restart marker
    /// follows each `restartEvery` blocks; 0 for none. A progressive picture has a second scan without coefficients.
    static func flatBlocks(
        _ values: [Int], columns: Int, restartEvery interval: Int, isProgressive: Bool = false
    ) -> [UInt8] {
        let means = scanData(of: values.count, restartEvery: interval) { block, isFirst, bits in
            let difference = values[block] - (isFirst ? 0 : values[block - 1])
            let size = Int.bitWidth - difference.magnitude.leadingZeroBitCount
            bits.write(size, 4)
            bits.write(difference < 0 ? difference + (1 << size) - 1 : difference, size)
            if !isProgressive { bits.write(0, 1) }
        }
        let rest = scanData(of: values.count, restartEvery: interval) { $2.write(0, 1) }
        let (width, height) = (columns * 8, values.count / columns * 8)
        let frame = marker(
            isProgressive ? 0xC2 : 0xC0, [8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0])
        return start + tables + marker(0xDD, big(interval, 2)) + frame
            + marker(0xDA, [1, 1, 0, 0, isProgressive ? 0 : 63, 0]) + means
            + (isProgressive ? marker(0xDA, [1, 1, 0, 1, 63, 0]) + rest : []) + end
    }

    /// The data of a scan. The second argument of `write` is whether the block is the first after the beginning of the
    /// scan or a restart.
    private static func scanData(
        of blocks: Int, restartEvery interval: Int, _ write: (Int, Bool, inout BitWriter) -> Void
    ) -> [UInt8] {
        var data: [UInt8] = []
        var bits = BitWriter()
        for block in 0..<blocks {
            let isRestart = interval > 0 && block > 0 && block % interval == 0
            if isRestart {
                data += bits.bytes() + [0xFF, 0xD0 + UInt8((block / interval - 1) % 8)]
                bits = BitWriter()
            }
            write(block, block == 0 || isRestart, &bits)
        }
        return data + bits.bytes()
    }

    struct Scan {
        var isOfMeans: Bool
        /// The identifier of the scan's first component; 1 is luma.
        var component: Int
        /// The range of the scan's data in the file.
        var data: Range<Int>
    }

    /// The scans of a file, found by its markers (ITU-T T.81, B.2).
    static func scans(of file: [UInt8]) -> [Scan] {
        var (scans, at) = ([Scan](), 2)
        while at + 4 <= file.count, file[at] == 0xFF, file[at + 1] != 0xD9 {
            let code = file[at + 1]
            let segment = at + 4
            at += 2 + (Int(file[at + 2]) << 8 | Int(file[at + 3]))
            guard code == 0xDA else { continue }
            let start = at
            while !(file[at] == 0xFF && file[at + 1] != 0 && !(0xD0...0xD7).contains(file[at + 1])) { at += 1 }
            let isOfMeans = file[segment + 1 + 2 * Int(file[segment])] == 0
            scans.append(Scan(isOfMeans: isOfMeans, component: Int(file[segment + 1]), data: start..<at))
        }
        return scans
    }

    /// A progressive picture of one grey block, with this number of scans that change nothing.
    static func manyScans(_ count: Int) -> [UInt8] {
        let first = marker(0xDA, [1, 1, 0, 0, 0, 0]) + [0x0F]
        let more = marker(0xDA, [1, 1, 0, 1, 63, 0]) + [0x7F]
        return start + tables + marker(0xC2, [8, 0, 8, 0, 8, 1, 1, 0x11, 0]) + first
            + (1..<count).flatMap { _ in more } + end
    }

    /// A grey baseline picture of three components with only the first scan and without an end marker.
    static var manyScansOfBaseline: [UInt8] {
        let components: [UInt8] = (1...3).flatMap { [UInt8($0), 0x11, 0] }
        return start + tables + marker(0xC0, [8, 0, 8, 0, 8, 3] + components) + marker(0xDA, [1, 1, 0, 0, 63, 0]) + [
            0x07
        ]
    }

    /// The tables: quantisation by 8 for the mean and by 1 for the rest; codes of 4 bits for the sizes of means, and of
    /// one bit for the end of a block.
    private static var tables: [UInt8] {
        marker(0xDB, [0, 8] + [UInt8](repeating: 1, count: 63))
            + marker(0xC4, [0x00, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 12) + Array(0...8))
            + marker(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
    }

    static func marker(_ code: UInt8, _ data: [UInt8]) -> [UInt8] { [0xFF, code] + big(data.count + 2, 2) + data }

    private struct BitWriter {
        private var bits: [UInt8] = []

        mutating func write(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(UInt8(value >> bit & 1)) }
        }

        /// The bytes, filled up with ones. A zero byte follows every byte of ones.
        func bytes() -> [UInt8] {
            stride(from: 0, to: bits.count, by: 8).flatMap { start -> [UInt8] in
                let byte = (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 1) }
                return byte == 0xFF ? [0xFF, 0] : [byte]
            }
        }
    }
}
