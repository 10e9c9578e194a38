import WebImageCore

/// The format of a partial body's file: a header with key and metadata, then the bytes in frames, each with its length
/// and a checksum. Only complete frames count, so that a process may be killed at any moment; bytes after the last
/// complete frame are room that was taken ahead, or torn. All integers are little-endian.
enum PartialFileFormat {
    static let magic = Array("wi-part\n".utf8)
    static let version: UInt16 = 1
    /// Magic, version, two zero bytes, time, lengths of key and metadata, checksum of all of the header.
    static let fixedHeaderLength = 8 + 2 + 2 + 8 + 4 + 4 + 8
    static let frameHeaderLength = 4 + 8
    /// We never write longer keys or metadata.
    static let longestText = 1 << 20
    static let longestFrame = 1 << 20

    struct Header: Equatable {
        /// The key, or its hash if keys are not stored.
        var key: String
        var metadata: [UInt8]
        /// When the transfer of the body began, in seconds since 1970.
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

    /// The lengths of key and metadata; nil if the bytes are not a header.
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

    /// When the transfer of the body began; unreliable until the header is checked.
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

    /// The checksum includes the frame's position in the body.
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
