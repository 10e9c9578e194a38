/// The datasets of IPTC-IIM 4.2, chapter 1: a mark, the numbers of record and dataset, a length, a value.
enum IPTCDatasets {
    /// The datasets about copyright: the writer's name (2:80), the credit (2:110), the notice (2:116); and the
    /// character set of their texts (1:90).
    private static let ofCopyright: Set<[UInt8]> = [[1, 90], [2, 80], [2, 110], [2, 116]]

    /// - Parameter bytes: read up to the first invalid dataset.
    /// - Returns: nil if no dataset is about copyright.
    static func copyrightOnly(_ bytes: [UInt8]) -> [UInt8]? {
        var (kept, at, isSaid) = ([UInt8](), 0, false)
        while at <= bytes.count - 5, bytes[at] == 0x1C {
            let count = Int(bytes[at + 3]) << 8 | Int(bytes[at + 4])
            // Longer datasets store their length differently; names are not so long.
            guard count < 0x8000, count <= bytes.count - at - 5 else { break }
            let id = Array(bytes[at + 1...at + 2])
            if ofCopyright.contains(id) {
                kept += bytes[at..<at + 5 + count]
                if id[0] == 2, count > 0 { isSaid = true }
            }
            at += 5 + count
        }
        return isSaid ? kept : nil
    }
}
