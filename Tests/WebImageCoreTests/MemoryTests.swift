import Foundation
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

/// The memory of pixels.
@Suite struct MemoryTests {
    private static let lengths = [
        1, 63, 4096, 1 << 20, (8 << 20) - 49, (8 << 20) - 48, 9 << 20, (16 << 20) + 5, (17 << 20) - 40,
    ]

    @Test(arguments: lengths)
    func memoryIsAlignedAndOfItsFullLength(count: Int) throws {
        let memory = try AlignedMemory(byteCount: count)
        defer { memory.deallocate() }
        #expect(UInt(bitPattern: memory.base) % 64 == 0)
        // With the address sanitizer, this finds memory that is too short.
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        #expect(memory.base.load(fromByteOffset: count - 1, as: UInt8.self) == 7)
    }

    #if os(Linux)
        /// Blocks of many megabytes are mapped separately. Two freed ones are kept for the next allocations, which may
        /// be smaller.
        @Test func freedLargeBlocksAreReturnedToTheSystem() throws {
            var generator = SeededGenerator(seed: 3)
            let before = try mappedBytes()
            var held: [AlignedMemory] = []
            for round in 1...2000 {
                let count = Int.random(in: 8 << 20...12 << 20, using: &generator)
                let memory = try AlignedMemory(byteCount: count)
                for place in [0, count / 2, count - 1] {
                    memory.base.storeBytes(of: UInt8(truncatingIfNeeded: round), toByteOffset: place, as: UInt8.self)
                }
                held.append(memory)
                if held.count > 3 { held.remove(at: .random(in: 0..<held.count, using: &generator)).deallocate() }
            }
            #expect(Set(held.map { UInt(bitPattern: $0.base) }).count == held.count)
            for memory in held { memory.deallocate() }
            ProcessMemory.returnFree()
            // If blocks were not given back, this would be 8 GB. The margin is for tests that run at the same time.
            #expect(try mappedBytes() < before + (2 << 30))
        }

        /// The size of the address space (`VmSize` in proc(5)). The number of mappings would not do, because adjacent
        /// mappings count as one.
        private func mappedBytes() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmSize:") })
            return try #require(Int(line.filter(\.isNumber))) << 10
        }
    #endif

    /// The process once crashed instead of throwing the promised error.
    @Test(arguments: [Int.max, Int.max - 40, 1 << 60, 1 << 50]) func anImpossibleAllocationIsALimitError(count: Int) {
        let error = #expect(throws: WebImageError.self) { try AlignedMemory(byteCount: count).deallocate() }
        #expect(error?.code == .limitExceeded)
    }

    @Test func aPictureTooLargeForMemoryIsALimitError() {
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
