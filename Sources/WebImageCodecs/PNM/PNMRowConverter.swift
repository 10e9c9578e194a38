import WebImageCore
import WebImageProcessing

/// Turns the samples of a PNM row into pixels.
struct PNMRowConverter {
    let header: PNMHeader
    /// The output of each sample; one of the two is empty. Samples above the maximum count as the maximum; Netpbm's own
    /// readers do not check them either.
    private let bytes: [UInt8]
    private let words: [UInt16]

    /// - Parameter isWide: pixels of 16 bits a channel, else 8.
    init(_ header: PNMHeader, isWide: Bool) {
        self.header = header
        // The nearest value. In bitmaps, and only there, 1 is black.
        let isInverted = header.samples == .bits || header.samples == .textBits
        let scaled = { (sample: Int, limit: Int) in
            let sample = min(sample, header.most)
            return ((isInverted ? header.most - sample : sample) * limit * 2 + header.most) / (header.most * 2)
        }
        bytes = isWide ? [] : (0...max(header.most, 255)).map { UInt8(scaled($0, 255)) }
        words = isWide ? (0...header.most).map { UInt16(scaled($0, 65_535)) } : []
    }

    /// Whether a sample is a byte of the row, so that nothing must be unpacked.
    var readsBytes: Bool { header.samples == .bytes && header.most <= 255 }

    /// Writes some pixels of a row of bytes.
    func convert(
        bytes row: UnsafePointer<UInt8>, _ run: Range<Int>, into pixels: UnsafeMutableRawPointer
    ) {
        let row = row + run.lowerBound * header.channels
        if header.most == 255, header.channels == 3 {
            return PixelExpansion.expandRGB(row, into: pixels, count: run.count)
        }
        write(row, bytes, into: pixels.assumingMemoryBound(to: UInt8.self), run.count)
    }

    /// The samples of some pixels of a row of bits, of samples of two bytes, or of floats.
    ///
    /// - Parameter pixels: from a multiple of 8 on.
    func unpack(_ row: UnsafePointer<UInt8>, _ pixels: Range<Int>, into samples: UnsafeMutablePointer<UInt16>) {
        if header.samples == .bits {
            let row = row + pixels.lowerBound / 8
            for x in 0..<pixels.count { samples[x] = UInt16(row[x >> 3] >> UInt8(7 - x & 7) & 1) }
            return
        }
        if case .floats(let isLittleEndian) = header.samples {
            let row = UnsafeRawPointer(row) + pixels.lowerBound * header.channels * 4
            for index in 0..<pixels.count * header.channels {
                let bits = row.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
                let value = Float(bitPattern: isLittleEndian ? bits.littleEndian : bits.bigEndian)
                // Values above white become white; NaN becomes black.
                samples[index] = value > 0 ? UInt16((min(value, 1) * 65_535).rounded()) : 0
            }
            return
        }
        let most = UInt16(header.most)
        let row = row + pixels.lowerBound * header.channels * 2
        for index in 0..<pixels.count * header.channels {
            samples[index] = min(UInt16(row[index * 2]) << 8 | UInt16(row[index * 2 + 1]), most)
        }
    }

    /// Writes `count` pixels.
    func convert(_ samples: UnsafePointer<UInt16>, into pixels: UnsafeMutableRawPointer, count: Int) {
        if words.isEmpty {
            write(samples, bytes, into: pixels.assumingMemoryBound(to: UInt8.self), count)
        } else {
            write(samples, words, into: pixels.assumingMemoryBound(to: UInt16.self), count)
        }
    }

    private func write<Sample: FixedWidthInteger, Channel: FixedWidthInteger>(
        _ samples: UnsafePointer<Sample>, _ table: [Channel], into row: UnsafeMutablePointer<Channel>, _ count: Int
    ) {
        let channels = header.channels
        // The positions of green and blue: the same as red in grey pictures.
        let (green, blue) = channels < 3 ? (0, 0) : (1, 2)
        let hasAlpha = header.hasAlpha
        table.withUnsafeBufferPointer { table in
            for x in 0..<count {
                let pixel = samples + x * channels
                row[x * 4] = table[Int(pixel[0])]
                row[x * 4 + 1] = table[Int(pixel[green])]
                row[x * 4 + 2] = table[Int(pixel[blue])]
                row[x * 4 + 3] = hasAlpha ? table[Int(pixel[channels - 1])] : .max
            }
        }
    }
}
