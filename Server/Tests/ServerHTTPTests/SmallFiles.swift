import Foundation

/// An animated GIF of four frames, each of one colour.
enum SmallGIF {
    static func bytes(width: Int, height: Int) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        var bytes = Array("GIF89a".utf8) + word(width) + word(height) + [0x81, 0, 0]
        bytes += [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for frame in 0..<4 {
            bytes += [0x21, 0xF9, 4, 4, 5, 0, 0, 0, 0x2C, 0, 0, 0, 0] + word(width) + word(height) + [0, 2]
            // A clear code before each pixel keeps all codes at three bits.
            var bits: [UInt8] = []
            for code in (0..<width * height).flatMap({ _ in [4, frame] }) + [5] {
                bits += (0..<3).map { UInt8(code >> $0 & 1) }
            }
            let packed = stride(from: 0, to: bits.count, by: 8).map { start in
                bits[start..<min(start + 8, bits.count)].enumerated().reduce(UInt8(0)) {
                    $0 | $1.element << UInt8($1.offset)
                }
            }
            for start in stride(from: 0, to: packed.count, by: 255) {
                let block = packed[start..<min(start + 255, packed.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return bytes + [0x3B]
    }
}

/// A temporary folder that is removed when the object is released.
final class ScratchDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("webimage-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
