import Testing
import WebImageCore

/// Where pixels lie.
@Suite struct MemoryTests {
    @Test(arguments: [1, 63, 64, 65, 4096, 1 << 20]) func memoryIsAlignedAndAllThere(count: Int) {
        let memory = AlignedMemory(byteCount: count)
        defer { memory.deallocate() }
        #expect(UInt(bitPattern: memory.base) % 64 == 0)
        // The sanitizer looks on.
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        #expect(memory.base.load(fromByteOffset: count - 1, as: UInt8.self) == 7)
    }

    @Test func pixelsAreAligned() throws {
        for width in 1...40 {
            let buffer = try PixelBuffer(size: PixelSize(width: width, height: 3))
            #expect(UInt(bitPattern: buffer.base) % 64 == 0)
        }
    }
}
