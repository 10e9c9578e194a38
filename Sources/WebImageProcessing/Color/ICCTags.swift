/// The tags of an untrusted ICC profile (ICC.1:2010, section 7). Parts that lie outside of the bytes count as missing.
struct ICCTags {
    /// The most tags; lcms2 has the same limit.
    private static let most = 100

    private let bytes: [UInt8]
    private var places: [String: Range<Int>] = [:]
    /// Whether a tag is repeated, which readers treat differently.
    private(set) var hasDoubles = false

    /// - Returns: nil if the bytes are not a profile.
    init?(_ profile: [UInt8]) {
        bytes = profile
        guard profile.count >= 132, text(36, 4) == "acsp" else { return nil }
        let count = number(128)
        guard count <= Self.most else { return nil }
        // The profile may state that it is shorter than its bytes.
        let end = min(number(0), profile.count)
        for entry in 0..<count {
            let place = 132 + entry * 12
            guard place + 12 <= profile.count else { break }
            let (name, start, length) = (text(place, 4), number(place + 4), number(place + 8))
            // This cannot overflow: both numbers have 32 bits, and `Int` has 64.
            guard start + length <= end else { continue }
            hasDoubles = hasDoubles || places[name] != nil
            places[name] = places[name] ?? start..<start + length
        }
    }

    var names: some Sequence<String> { places.keys }
    /// The four letters at this position of the header (7.2).
    var deviceClass: String { text(12, 4) }
    var colorSpace: String { text(16, 4) }
    var connectionSpace: String { text(20, 4) }
    var version: UInt32 { UInt32(truncatingIfNeeded: number(8)) }

    /// The bytes of a tag, beginning with its kind.
    func tag(_ name: String) -> ArraySlice<UInt8>? { places[name].map { bytes[$0] } }

    private func number(_ place: Int) -> Int { bytes[place...].bigEndian(4) }

    private func text(_ place: Int, _ count: Int) -> String {
        String(decoding: bytes[place..<place + count], as: Unicode.ASCII.self)
    }
}

extension ArraySlice<UInt8> {
    /// The kind of a tag: its first four bytes, as text.
    var kind: String { String(decoding: prefix(4), as: Unicode.ASCII.self) }

    /// The unsigned number at the beginning; there must be enough bytes.
    func bigEndian(_ count: Int) -> Int { prefix(count).reduce(0) { $0 << 8 | Int($1) } }

    /// The unsigned number at an offset; nil if there are too few bytes.
    func number(at offset: Int, _ count: Int) -> Int? {
        offset + count <= self.count ? dropFirst(offset).bigEndian(count) : nil
    }

    /// A number with 16 integer and 16 fraction bits (`s15Fixed16Number`).
    func fixed(at offset: Int) -> Double? {
        number(at: offset, 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
