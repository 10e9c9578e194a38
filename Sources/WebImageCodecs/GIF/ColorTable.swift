/// Up to 256 opaque colours and their indices.
struct ColorTable {
    static let most = 256
    private static let slotBits: UInt32 = 10

    /// Red, green, blue and 255 from the lowest byte on.
    private(set) var colors: [UInt32] = []
    /// An open hash table of colour numbers, counted from 1; 0 for empty slots.
    private var slots = [UInt16](repeating: 0, count: 1 << Int(slotBits))

    init() {}

    init(_ colors: [UInt32]) {
        for color in colors { _ = insert(color) }
    }

    /// The distinct colours of pixels, without those that are 0; nil if there are more than `limit`.
    static func colors(of pixels: UnsafeBufferPointer<UInt32>, atMost limit: Int = most) -> ColorTable? {
        var table = ColorTable()
        var last: UInt32 = 0
        for pixel in pixels where pixel != last {
            last = pixel
            if pixel != 0, !table.insert(pixel) || table.colors.count > limit { return nil }
        }
        return table
    }

    func number(of color: UInt32) -> Int? {
        let number = Int(slots[slot(of: color)])
        return number == 0 ? nil : number - 1
    }

    /// - Returns: false if the colour is new and the table is full.
    mutating func insert(_ color: UInt32) -> Bool {
        let slot = slot(of: color)
        guard slots[slot] == 0 else { return true }
        guard colors.count < Self.most else { return false }
        colors.append(color)
        slots[slot] = UInt16(colors.count)
        return true
    }

    /// The slot of a colour, or the empty one for it.
    private func slot(of color: UInt32) -> Int {
        var slot = Int((color &* 0x9E37_79B1) >> (32 - Self.slotBits))
        while slots[slot] != 0, colors[Int(slots[slot]) - 1] != color { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }
}
