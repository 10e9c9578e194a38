/// The parts of an ICC profile (ICC.1:2010, section 7), nothing of which is trusted: what lies outside of the bytes is not
/// there.
struct ICCTags {
    /// As many as lcms2 looks at.
    private static let most = 100

    private let bytes: [UInt8]
    private var places: [String: Range<Int>] = [:]
    /// Whether the same tag stands there twice, which readers differ about.
    private(set) var hasDoubles = false

    /// - Returns: nil for bytes that are no profile.
    init?(_ profile: [UInt8]) {
        bytes = profile
        guard profile.count >= 132, text(36, 4) == "acsp" else { return nil }
        let count = number(128)
        guard count <= Self.most else { return nil }
        // The profile may say that it is shorter than its bytes are.
        let end = min(number(0), profile.count)
        for entry in 0..<count {
            let place = 132 + entry * 12
            guard place + 12 <= profile.count else { break }
            let (name, start, length) = (text(place, 4), number(place + 4), number(place + 8))
            // Two numbers of 32 bits: their sum is one of 64.
            guard start + length <= end else { continue }
            hasDoubles = hasDoubles || places[name] != nil
            places[name] = places[name] ?? start..<start + length
        }
    }

    var names: some Sequence<String> { places.keys }
    /// The four letters at these places of the head (7.2).
    var deviceClass: String { text(12, 4) }
    var colorSpace: String { text(16, 4) }
    var connectionSpace: String { text(20, 4) }
    var version: UInt32 { UInt32(truncatingIfNeeded: number(8)) }

    /// A tag's bytes, its kind first.
    func tag(_ name: String) -> ArraySlice<UInt8>? { places[name].map { bytes[$0] } }

    private func number(_ place: Int) -> Int { bytes[place...].bigEndian(4) }

    private func text(_ place: Int, _ count: Int) -> String {
        String(decoding: bytes[place..<place + count], as: Unicode.ASCII.self)
    }
}

extension ArraySlice<UInt8> {
    /// The kind of a tag: its first four bytes, as text.
    var kind: String { String(decoding: prefix(4), as: Unicode.ASCII.self) }

    /// An unsigned number at the beginning; there must be as many bytes.
    func bigEndian(_ count: Int) -> Int { prefix(count).reduce(0) { $0 << 8 | Int($1) } }

    /// An unsigned number some bytes behind the beginning; nil where there are no such bytes.
    func number(at offset: Int, _ count: Int) -> Int? {
        offset + count <= self.count ? dropFirst(offset).bigEndian(count) : nil
    }

    /// A number of 16 bits before and 16 behind the point (`s15Fixed16Number`).
    func fixed(at offset: Int) -> Double? {
        number(at: offset, 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
