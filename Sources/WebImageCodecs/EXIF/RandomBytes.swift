import WebImageCore
import WebImageSystem

/// Bytes with random access: in memory, or in a file.
protocol RandomBytes {
    var count: Int { get }
    /// Copies `count` bytes; fewer at the end, or if a file cannot be read.
    func copy(at offset: Int, count: Int) -> [UInt8]
    /// One byte; must not be called beyond the end.
    func byte(at offset: Int) -> UInt8
}

extension RandomBytes {
    func starts(with first: [UInt8]) -> Bool { copy(at: 0, count: first.count) == first }
}

extension UnsafeRawBufferPointer: RandomBytes {
    func copy(at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, offset < self.count else { return [] }
        return Array(self[offset..<offset + Swift.min(count, self.count - offset)])
    }

    func byte(at offset: Int) -> UInt8 { self[offset] }
}

/// A file; the part that was read last is in memory. Not thread-safe.
final class FileBytes: RandomBytes {
    private static let windowSize = 16 << 10

    let file: HeldFile
    private let files = PosixFileSystem()
    private var window: [UInt8] = []
    private var windowStart = 0

    init(_ file: HeldFile) { self.file = file }

    var count: Int { file.byteCount }

    func copy(at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, offset < self.count else { return [] }
        let wanted = min(count, self.count - offset)
        return [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<wanted])
            filled = (try? files.readAll(file.descriptor, into: room, at: Int64(offset))) ?? 0
        }
    }

    /// 0 if it cannot be read.
    func byte(at offset: Int) -> UInt8 {
        if !(windowStart..<windowStart + window.count).contains(offset) {
            windowStart = offset
            window = copy(at: offset, count: Self.windowSize)
        }
        return window.first == nil ? 0 : window[offset - windowStart]
    }
}
