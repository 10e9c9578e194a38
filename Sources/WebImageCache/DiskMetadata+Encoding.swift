import WebImageCore

/// An entry's trailer: key and metadata as fields, each with its tag (2 bytes), length (4 bytes) and bytes; all integers
/// little-endian. The first four bytes are the version of the encoding and two zero bytes.
///
/// Tags are never given a second meaning. What has an unknown tag is kept and written again.
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
    }

    var key: String
    var metadata: DiskMetadata

    func encoded() -> [UInt8] {
        var out = ByteWriter()
        out.integer(Self.version)
        out.integer(UInt16(0))
        out.field(.key, text: key)
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
        for field in metadata.unknownFields { out.field(field.tag, field.bytes) }
        return out.bytes
    }

    /// Nil for what is no trailer of a version that we know. Later versions add tags; a new number means a new meaning.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> DiskTrailer? {
        var reader = ByteReader(bytes: bytes)
        guard reader.integer(UInt16.self) == version, reader.integer(UInt16.self) != nil else { return nil }
        var key: String?
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
            } else if !metadata.decode(known, part) {
                return nil
            }
        }
        return key.map { DiskTrailer(key: $0, metadata: metadata) }
    }

    fileprivate static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        String(validating: bytes, as: UTF8.self)
    }
}

extension DiskMetadata {
    fileprivate mutating func decode(_ tag: DiskTrailer.Tag, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes: bytes)
        switch tag {
        case .key: return false
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
            let field = Field(name: name, value: value)
            if tag == .header { headers.append(field) } else { varyRequestHeaders.append(field) }
        case .extendedData: extendedData = Array(bytes)
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

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func field(_ tag: UInt16, _ content: some Collection<UInt8>) {
        // A field of 4 GiB cannot come about: it would have to be in memory, over every limit.
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

    mutating func field(_ tag: DiskTrailer.Tag, pair: DiskMetadata.Field) {
        var content = ByteWriter()
        content.integer(UInt32(clamping: pair.name.utf8.count))
        content.bytes.append(contentsOf: pair.name.utf8)
        content.bytes.append(contentsOf: pair.value.utf8)
        field(tag.rawValue, content.bytes)
    }
}

/// Reads what ``ByteWriter`` wrote, and nothing beyond the end.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

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
