import WebImageCore

/// An entry's trailer: key and metadata as fields, each with its tag (2 bytes), length (4 bytes) and bytes; all
/// integers little-endian. The first four bytes are the version of the encoding and two zero bytes.
///
/// Tags never get a second meaning. Fields with unknown tags are kept when the trailer is rewritten.
struct DiskTrailer: Equatable {
    static let version: UInt16 = 1

    enum Tag: UInt16 {
        case key = 1
        case storedAt = 2
        case expiresAt = 3
        case url = 4
        case format = 5
        case status = 6
        case header = 7
        case varyRequestHeader = 8
        case requestTime = 9
        case responseTime = 10
        case extendedData = 11
        /// The SHA-256 of the key, instead of a key that must not be stored.
        case keyDigest = 12
        case typedData = 13
        /// What a finished picture was made from: width and height (8 bytes each), and a byte that is 1 for a vector picture.
        case original = 14
    }

    /// Nil if only its digest is stored.
    var key: String?
    var keyDigest: [UInt8]?
    var metadata: DiskMetadata

    /// - Parameter keepsKey: if false, the trailer holds neither key nor URLs.
    init(_ key: CacheKey, _ id: EntryID, _ metadata: DiskMetadata, keepsKey: Bool) {
        self.key = keepsKey ? key.text : nil
        keyDigest = keepsKey ? nil : id.bytes
        self.metadata = metadata
        if !keepsKey {
            self.metadata.url = nil
            self.metadata.headers = metadata.headers.compactMap(\.withoutURL)
        }
    }

    private init(key: String?, keyDigest: [UInt8]?, metadata: DiskMetadata) {
        (self.key, self.keyDigest, self.metadata) = (key, keyDigest, metadata)
    }

    /// The name of the entry's file.
    var id: EntryID? { key.map { EntryID(CacheKey($0)) } ?? keyDigest.flatMap(EntryID.init(bytes:)) }

    func encoded() -> ByteWriter {
        // Enough for nearly every trailer and the footer.
        var out = ByteWriter(capacity: 1024)
        out.integer(Self.version)
        out.integer(UInt16(0))
        out.field(.key, text: key)
        if let keyDigest { out.field(Tag.keyDigest.rawValue, keyDigest) }
        out.field(.storedAt, number: metadata.storedAt)
        out.field(.expiresAt, number: metadata.expiresAt)
        out.field(.url, text: metadata.url)
        out.field(.format, text: metadata.format?.rawValue)
        out.field(.status, number: metadata.status.map(Int64.init))
        for header in metadata.headers { out.field(.header, pair: header) }
        for header in metadata.varyRequestHeaders { out.field(.varyRequestHeader, pair: header) }
        out.field(.requestTime, number: metadata.requestTime)
        out.field(.responseTime, number: metadata.responseTime)
        if let data = metadata.extendedData { out.field(Tag.extendedData.rawValue, data) }
        for data in metadata.typedData { out.field(.typedData, typed: data) }
        if let original = metadata.original { out.field(.original, original: original) }
        for field in metadata.unknownFields { out.field(field.tag, field.bytes) }
        return out
    }

    /// Nil if the bytes are not a trailer of a known version. Later versions add tags; a new number means an
    /// incompatible encoding.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> DiskTrailer? {
        var reader = ByteReader(bytes: bytes)
        guard reader.integer(UInt16.self) == version, reader.integer(UInt16.self) != nil else { return nil }
        var (key, keyDigest): (String?, [UInt8]?) = (nil, nil)
        var metadata = DiskMetadata()
        while !reader.isAtEnd {
            guard let tag = reader.integer(UInt16.self), let length = reader.integer(UInt32.self),
                let part = reader.bytes(Int(length))
            else { return nil }
            guard let known = Tag(rawValue: tag) else {
                metadata.unknownFields.append(.init(tag: tag, bytes: Array(part)))
                continue
            }
            if known == .key {
                key = text(part)
            } else if known == .keyDigest {
                keyDigest = Array(part)
            } else if !metadata.decode(known, part) {
                return nil
            }
        }
        guard key != nil || keyDigest != nil else { return nil }
        return DiskTrailer(key: key, keyDigest: keyDigest, metadata: metadata)
    }

    fileprivate static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        // Validation is generic code, and slow; nearly every text here is ASCII.
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return String(validating: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { text in
            UnsafeMutableRawBufferPointer(text).copyBytes(from: bytes)
            return bytes.count
        }
    }
}

extension DiskMetadata {
    fileprivate mutating func decode(_ tag: DiskTrailer.Tag, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes: bytes)
        switch tag {
        case .key, .keyDigest: return false
        case .storedAt, .expiresAt, .status, .requestTime, .responseTime:
            guard let number = reader.integer(Int64.self), reader.isAtEnd else { return false }
            set(tag, number)
        case .url:
            url = DiskTrailer.text(bytes)
            return url != nil
        case .format:
            format = DiskTrailer.text(bytes).map(ImageFormat.init(rawValue:))
            return format != nil
        case .header, .varyRequestHeader:
            guard let length = reader.integer(UInt32.self), let name = reader.bytes(Int(length)),
                let name = DiskTrailer.text(name), let value = DiskTrailer.text(reader.rest)
            else { return false }
            // As many as an answer's head may have lines. What reads them has limits, too.
            guard headers.count + varyRequestHeaders.count < 4096 else { return false }
            let field = Field(name: name, value: value)
            if tag == .header { headers.append(field) } else { varyRequestHeaders.append(field) }
        case .extendedData: extendedData = Array(bytes)
        case .typedData:
            guard let version = reader.integer(UInt32.self), let length = reader.integer(UInt32.self),
                let name = reader.bytes(Int(length)).flatMap(DiskTrailer.text)
            else { return false }
            typedData.append(TypedData(name: name, version: version, bytes: Array(reader.rest)))
        case .original:
            guard let width = reader.integer(Int64.self), let height = reader.integer(Int64.self),
                let isVector = reader.integer(UInt8.self), reader.isAtEnd
            else { return false }
            let size = PixelSize(width: Int(width), height: Int(height))
            original = size.isEmpty ? nil : Original(size: size, isVector: isVector == 1)
        }
        return true
    }

    private mutating func set(_ tag: DiskTrailer.Tag, _ number: Int64) {
        switch tag {
        case .storedAt: storedAt = number
        case .expiresAt: expiresAt = number
        case .status: status = Int(number)
        case .requestTime: requestTime = number
        default: responseTime = number
        }
    }
}

/// Little-endian integers and fields, one after the other.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// The checksum of the bytes from `start` on.
    func checksum(from start: Int) -> UInt64 {
        bytes.withUnsafeBytes { Checksum.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func field(_ tag: UInt16, _ content: some Collection<UInt8>) {
        // A field cannot reach 4 GiB: it would have to be in memory, beyond every limit.
        integer(tag)
        integer(UInt32(clamping: content.count))
        bytes.append(contentsOf: content)
    }

    mutating func field(_ tag: DiskTrailer.Tag, text: String?) {
        if let text { field(tag.rawValue, text.utf8) }
    }

    mutating func field(_ tag: DiskTrailer.Tag, number: Int64?) {
        guard let number else { return }
        integer(tag.rawValue)
        integer(UInt32(8))
        integer(number)
    }

    mutating func field(_ tag: DiskTrailer.Tag, typed data: DiskMetadata.TypedData) {
        let name = data.name.utf8
        integer(tag.rawValue)
        integer(UInt32(clamping: 8 + name.count + data.bytes.count))
        integer(data.version)
        integer(UInt32(clamping: name.count))
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: data.bytes)
    }

    mutating func field(_ tag: DiskTrailer.Tag, original: DiskMetadata.Original) {
        integer(tag.rawValue)
        integer(UInt32(17))
        integer(Int64(original.size.width))
        integer(Int64(original.size.height))
        integer(UInt8(original.isVector ? 1 : 0))
    }

    mutating func field(_ tag: DiskTrailer.Tag, pair: DiskMetadata.Field) {
        let (name, value) = (pair.name.utf8, pair.value.utf8)
        integer(tag.rawValue)
        integer(UInt32(clamping: 4 + name.count + value.count))
        integer(UInt32(clamping: name.count))
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
    }
}

/// Reads the output of ``ByteWriter``, never beyond its end.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard let part = self.bytes(MemoryLayout<Value>.size) else { return nil }
        return Value(littleEndian: part.loadUnaligned(as: Value.self))
    }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }
}
