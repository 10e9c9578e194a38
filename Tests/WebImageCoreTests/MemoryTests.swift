import Testing
import WebImageCore

/// Where pixels lie.
@Suite struct MemoryTests {
    @Test(arguments: [1, 63, 64, 65, 4096, 1 << 20]) func memoryIsAlignedAndAllThere(count: Int) throws {
        let memory = try AlignedMemory(byteCount: count)
        defer { memory.deallocate() }
        #expect(UInt(bitPattern: memory.base) % 64 == 0)
        // The sanitizer looks on.
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        #expect(memory.base.load(fromByteOffset: count - 1, as: UInt8.self) == 7)
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
