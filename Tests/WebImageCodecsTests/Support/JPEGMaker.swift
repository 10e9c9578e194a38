/// Makes JPEG files that our encoder does not write: flat colours in CMYK, pictures of very many scans.
enum JPEGMaker {
    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let end: [UInt8] = [0xFF, 0xD9]

    /// A baseline picture of one colour, the stored values as given.
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

    /// A grey picture of whole blocks, each of one colour, which is given as the difference to 128; with a restart marker behind
    /// each `restartEvery` blocks, 0 for none. A progressive one has a scan that says of each block that nothing follows.
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

    /// The data of a scan; `write` is told whether nothing of the scan is known before a block.
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
        /// The identifier of its first component; 1 is brightness.
        var component: Int
        /// Where its data lies in the file.
        var data: Range<Int>
    }

    /// The scans of a file, by its markers (ITU-T T.81, B.2).
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

    /// A grey progressive picture of one block, grey again in every scan.
    static func manyScans(_ count: Int) -> [UInt8] {
        let first = marker(0xDA, [1, 1, 0, 0, 0, 0]) + [0x0F]
        let more = marker(0xDA, [1, 1, 0, 1, 63, 0]) + [0x7F]
        return start + tables + marker(0xC2, [8, 0, 8, 0, 8, 1, 1, 0x11, 0]) + first
            + (1..<count).flatMap { _ in more } + end
    }

    /// A grey baseline picture of three components, of which only the first scan is there, without the end.
    static var manyScansOfBaseline: [UInt8] {
        let components: [UInt8] = (1...3).flatMap { [UInt8($0), 0x11, 0] }
        return start + tables + marker(0xC0, [8, 0, 8, 0, 8, 3] + components) + marker(0xDA, [1, 1, 0, 0, 63, 0]) + [
            0x07
        ]
    }

    /// Quantisation by 8 for the mean and 1 for the rest; codes of 4 bits for the sizes of means, one bit for the end
    /// of a block.
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

        /// Filled up with ones; a zero follows every byte of ones.
        func bytes() -> [UInt8] {
            stride(from: 0, to: bits.count, by: 8).flatMap { start -> [UInt8] in
                let byte = (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 1) }
                return byte == 0xFF ? [0xFF, 0] : [byte]
            }
        }
    }
}
