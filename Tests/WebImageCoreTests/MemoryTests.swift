import Foundation
import Testing
import WebImageCore

/// Where pixels lie.
@Suite struct MemoryTests {
    private static let lengths = [
        1, 63, 4096, 1 << 20, (8 << 20) - 49, (8 << 20) - 48, 9 << 20, (16 << 20) + 5, (17 << 20) - 40,
    ]

    @Test(arguments: lengths)
    func memoryIsAlignedAndAllThere(count: Int) throws {
        let memory = try AlignedMemory(byteCount: count)
        defer { memory.deallocate() }
        #expect(UInt(bitPattern: memory.base) % 64 == 0)
        // The sanitizer looks on.
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        #expect(memory.base.load(fromByteOffset: count - 1, as: UInt8.self) == 7)
    }

    /// Each block of many megabytes is mapped for itself: what is given back is gone, whatever else is held.
    @Test func largeBlocksGoBackWhole() throws {
        let before = try mappings()
        for round in 1...50 {
            let small = try AlignedMemory(byteCount: 100 << 10)
            let large = try AlignedMemory(byteCount: (8 << 20) + round * 300_000)
            large.base.initializeMemory(as: UInt8.self, repeating: 1, count: (8 << 20) + round * 300_000)
            large.deallocate()
            small.deallocate()
        }
        // Tests beside this one map and unmap, too.
        #expect(try mappings() < before + 40)
    }

    private func mappings() throws -> Int {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        return maps.split(separator: "\n").count
    }

    /// The process ended where the promise was an error.
    @Test(arguments: [Int.max, Int.max - 40, 1 << 60, 1 << 50]) func memoryThatThereIsNotIsALimit(count: Int) {
        let error = #expect(throws: WebImageError.self) { try AlignedMemory(byteCount: count).deallocate() }
        #expect(error?.code == .limitExceeded)
    }

    @Test func aPictureThatFitsNoMemoryIsALimit() {
        for size in [PixelSize(width: 1 << 25, height: 1 << 25), PixelSize(width: 1 << 30, height: 1 << 30)] {
            let error = #expect(throws: WebImageError.self) { try PixelBuffer(size: size) }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test func pixelsAreAligned() throws {
        for width in 1...40 {
            let buffer = try PixelBuffer(size: PixelSize(width: width, height: 3))
            #expect(UInt(bitPattern: buffer.base) % 64 == 0)
        }
    }
}
