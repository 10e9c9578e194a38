import CSysXXHash

/// XXH3-64, the checksum of bodies, trailers and footers on disk. It detects bit rot and torn writes, not manipulation.
enum Checksum {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 { wi_xxh3(bytes.baseAddress, bytes.count) }

    static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { of($0) } }
}

/// The checksum of bytes that arrive in parts.
struct RunningChecksum: ~Copyable, @unchecked Sendable {
    // Sendable: it is the only owner of the state that it points to.
    private let state: OpaquePointer

    init() {
        guard let state = XXH3_createState() else { fatalError("out of memory") }
        self.state = state
        XXH3_64bits_reset(state)
    }

    deinit { XXH3_freeState(state) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) { wi_xxh3_update(state, bytes.baseAddress, bytes.count) }

    var value: UInt64 { XXH3_64bits_digest(state) }
}
