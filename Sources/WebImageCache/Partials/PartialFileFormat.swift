import WebImageCore

/// How the beginning of a body lies in its file: a header with key and metadata, then the bytes in frames, each with its
/// length and a checksum. A frame counts once it is whole, so that a process may be killed at any moment; what follows
/// the last whole frame is room that was taken ahead, or torn. All integers are little-endian.
enum PartialFileFormat {
    static let magic = Array("wi-part\n".utf8)
    static let version: UInt16 = 1
    /// Magic, version, two zero bytes, time, lengths of key and metadata, checksum of all of the header.
    static let fixedHeaderLength = 8 + 2 + 2 + 8 + 4 + 4 + 8
    static let frameHeaderLength = 4 + 8
    /// Longer keys or metadata are nothing that we wrote.
    static let longestText = 1 << 20
    static let longestFrame = 1 << 20

    struct Header: Equatable {
        /// Or its hash, where keys are not kept.
        var key: String
        var metadata: [UInt8]
        /// When the body was begun, in seconds since 1970.
        var beganAt: Int64

        func encoded() -> [UInt8] {
            var out = ByteWriter()
            for byte in magic { out.integer(byte) }
            out.integer(version)
            out.integer(UInt16(0))
            out.integer(beganAt)
            out.integer(UInt32(clamping: key.utf8.count))
            out.integer(UInt32(clamping: metadata.count))
            let text = Array(key.utf8) + metadata
            return out.bytes + checksum(out.bytes + text) + text
        }
    }

    /// The lengths of what follows the fixed part, or nil for what is no header.
    static func textLengths(_ fixed: [UInt8]) -> (key: Int, metadata: Int)? {
        fixed.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes: bytes)
            guard bytes.count == fixedHeaderLength, let found = reader.bytes(8), found.elementsEqual(magic),
                reader.integer(UInt16.self) == version, reader.integer(UInt16.self) == 0,
                reader.integer(Int64.self) != nil, let key = reader.integer(UInt32.self),
                let metadata = reader.integer(UInt32.self), key <= longestText, metadata <= longestText
            else { return nil }
            return (Int(key), Int(metadata))
        }
    }

    /// When the body was begun; only a guess until the header is checked.
    static func beganAt(_ fixed: [UInt8]) -> Int64? {
        guard textLengths(fixed) != nil else { return nil }
        return fixed.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(fromByteOffset: 12, as: Int64.self)) }
    }

    static func decode(_ fixed: [UInt8], text: [UInt8]) -> Header? {
        guard let lengths = textLengths(fixed), text.count == lengths.key + lengths.metadata,
            Array(fixed[28...]) == checksum(Array(fixed[..<28]) + text),
            let key = String(validating: text.prefix(lengths.key), as: UTF8.self), let beganAt = beganAt(fixed)
        else { return nil }
        return Header(key: key, metadata: Array(text.dropFirst(lengths.key)), beganAt: beganAt)
    }

    /// The checksum knows where in the body the frame belongs.
    static func frameHeader(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> [UInt8] {
        var out = ByteWriter()
        out.integer(UInt32(clamping: bytes.count))
        out.integer(frameChecksum(bytes, at: offset))
        return out.bytes
    }

    static func frameChecksum(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        var sum = RunningChecksum()
        withUnsafeBytes(of: Int64(offset).littleEndian) { sum.add($0) }
        sum.add(bytes)
        return sum.value
    }

    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: Checksum.of(bytes).littleEndian) { Array($0) }
    }
}
