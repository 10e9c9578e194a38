import Foundation
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

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

    /// Blocks of many megabytes are mapped for themselves. Two are kept for who comes next, which need not be as large.
    @Test func largeBlocksGoBackWhole() throws {
        var generator = SeededGenerator(seed: 3)
        let before = try mappings()
        var held: [(memory: AlignedMemory, count: Int)] = []
        for round in 1...120 {
            let count = Int.random(in: 8 << 20...12 << 20, using: &generator)
            let memory = try AlignedMemory(byteCount: count)
            for place in [0, count / 2, count - 1] {
                memory.base.storeBytes(of: UInt8(round), toByteOffset: place, as: UInt8.self)
            }
            held.append((memory, count))
            if held.count > 3 { held.remove(at: .random(in: 0..<held.count, using: &generator)).memory.deallocate() }
        }
        #expect(Set(held.map { UInt(bitPattern: $0.memory.base) }).count == held.count)
        for (memory, _) in held { memory.deallocate() }
        ProcessMemory.returnFree()
        // Tests beside this one map and unmap, too.
        #expect(try mappings() < before + 60)
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
