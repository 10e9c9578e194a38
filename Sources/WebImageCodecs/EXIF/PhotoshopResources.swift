/// Photoshop's image resources, one of which holds the IPTC datasets ("Adobe Photoshop File Formats Specification",
/// Image Resources).
enum PhotoshopResources {
    private static let signature = Array("8BIM".utf8)
    private static let iptc = 0x0404

    /// - Parameter resources: may be truncated or damaged.
    /// - Returns: nil if there is no IPTC.
    static func iptc(in resources: UnsafeRawBufferPointer) -> [UInt8]? {
        var at = 0
        func number(_ place: Int, _ count: Int) -> Int {
            resources[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
        }
        while at <= resources.count - 12, resources[at..<at + 4].elementsEqual(signature) {
            let id = number(at + 4, 2)
            // A Pascal string, padded to an even number of bytes.
            let name = Int(resources[at + 6]) + 1
            let head = at + 6 + name + name % 2
            guard head <= resources.count - 4 else { return nil }
            let count = number(head, 4)
            guard count <= resources.count - head - 4 else { return nil }
            if id == iptc { return count > 0 ? Array(resources[head + 4..<head + 4 + count]) : nil }
            at = head + 4 + count + count % 2
        }
        return nil
    }

    static func holding(iptc: [UInt8]) -> [UInt8] {
        let count = (0..<4).reversed().map { UInt8(truncatingIfNeeded: iptc.count >> (8 * $0)) }
        return signature + [4, 4, 0, 0] + count + iptc + [UInt8](repeating: 0, count: iptc.count % 2)
    }
}
