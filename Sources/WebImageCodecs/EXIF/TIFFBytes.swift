/// Numbers in the byte order of a TIFF block; nil outside of it.
struct TIFFBytes {
    let isBigEndian: Bool
    private let bytes: UnsafeRawBufferPointer

    init?(_ bytes: UnsafeRawBufferPointer) {
        if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) {
            isBigEndian = false
        } else if bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            isBigEndian = true
        } else {
            return nil
        }
        self.bytes = bytes
    }

    func short(at offset: Int) -> UInt16? {
        guard offset >= 0, offset <= bytes.count - 2 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        return isBigEndian ? UInt16(bigEndian: value) : UInt16(littleEndian: value)
    }

    func long(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
    }
}
