import CShimPNG
import WebImageCore

/// EXIF in the form that ImageMagick wrote into PNGs before there was a chunk for it: hexadecimal digits in a named
/// text, after "exif" and their length. ExifTool, Pillow and others read it too.
enum PNGRawProfile {
    /// The beginning of the chunk's contents.
    static let name = Array("Raw profile type exif".utf8) + [0]
    private static let lineLength = 36
    private static let prefix = Array("Exif".utf8) + [0, 0]

    /// The valid lengths of a chunk.
    ///
    /// - Parameter limit: the maximum length of the EXIF block.
    static func lengths(_ limit: Int) -> ClosedRange<Int> { name.count...max(name.count, longestText(limit)) }

    /// The length of the text for `limit` bytes: two digits for each byte, and the ends of the lines.
    private static func longestText(_ limit: Int) -> Int {
        let bytes = min(max(limit, 0), Int(Int32.max))
        return bytes * 2 + bytes / lineLength + 128
    }

    /// - Parameter contents: of the chunk.
    /// - Returns: a block like that of `eXIf`; nil if there is none or it is longer than the limit.
    static func exif(_ contents: ArraySlice<UInt8>, isCompressed: Bool, limit: Int) -> [UInt8]? {
        let rest = contents.dropFirst(name.count)
        guard isCompressed else { return block(rest, limit) }
        // Deflate is the only method there is.
        guard rest.first == 0 else { return nil }
        return inflated(rest.dropFirst(), limit: longestText(limit)).flatMap { block($0[...], limit) }
    }

    private static func block(_ text: ArraySlice<UInt8>, _ limit: Int) -> [UInt8]? {
        var lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: true)[...]
        guard lines.popFirst().map({ Array($0) }) == Array("exif".utf8),
            let count = lines.popFirst().flatMap({ Int(String(decoding: $0.drop { $0 == 0x20 }, as: UTF8.self)) }),
            let digits = lines.popFirst(), count > 0, count <= limit, count <= digits.count / 2
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var first: UInt8?
        for digit in digits where bytes.count < count {
            guard let value = digit.hexDigitValue else { continue }
            if let high = first { bytes.append(high << 4 | value) }
            first = first == nil ? value : nil
        }
        guard bytes.count == count else { return nil }
        return bytes.starts(with: prefix) ? Array(bytes.dropFirst(prefix.count)) : bytes
    }

    private static func inflated(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
        // Deflate expands one byte to at most 1032.
        let capacity = min(limit, bytes.count * 1032 + 64)
        var length = 0
        let text = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            guard let base = output.baseAddress else { return }
            length = bytes.withUnsafeBufferPointer { input in
                input.baseAddress.map { wi_png_inflate($0, input.count, base, capacity) } ?? 0
            }
            count = length
        }
        return length > 0 ? text : nil
    }
}
