/// Unpacks RLE4 and RLE8 as the bytes arrive, to rows of one byte a pixel. Skipped pixels have index 0.
struct BMPRunReader {
    enum Event {
        /// The current row is complete.
        case row
        /// The end of the picture; the current row is the last one with data.
        case end
    }

    private enum State {
        case first
        case second(UInt8)
        case literal(rest: Int, hasPadding: Bool)
        case padding
        case right
        case down(right: Int)
        case skippingRows(Int, right: Int)
    }

    private let width: Int
    private let isNibbles: Bool
    private var state = State.first
    private var x = 0
    /// The current row.
    private(set) var indices: [UInt8]

    /// Whether the current row has all its pixels.
    var isRowFull: Bool { x == width }

    init(width: Int, isNibbles: Bool) {
        self.width = width
        self.isNibbles = isNibbles
        indices = [UInt8](repeating: 0, count: width)
    }

    /// Begins the next row, after an event.
    mutating func beginRow() {
        for index in 0..<width { indices[index] = 0 }
    }

    /// Reads up to the next event, and removes the used bytes from `input`. nil if all of `input` is used up.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) -> Event? {
        if skipsRow() { return .row }
        while let byte = input.first {
            input = UnsafeBufferPointer(rebasing: input.dropFirst())
            switch state {
            case .first: state = .second(byte)
            case .second(0):
                state = .first
                if let event = escape(byte) { return event }
            case .second(let count):
                state = .first
                for position in 0..<min(Int(count), width - x) { put(isNibbles ? nibble(byte, position) : byte) }
            case .literal(let rest, let hasPadding): readLiteral(byte, rest: rest, hasPadding: hasPadding)
            case .padding: state = .first
            case .right: state = .down(right: min(x + Int(byte), width))
            case .down(let right):
                state = .skippingRows(Int(byte), right: right)
                if skipsRow() { return .row }
            case .skippingRows: return nil
            }
        }
        return nil
    }

    /// Whether one more row is skipped; after the last skipped one, reading continues at its position.
    private mutating func skipsRow() -> Bool {
        guard case .skippingRows(let rows, let right) = state else { return false }
        if rows > 0 {
            state = .skippingRows(rows - 1, right: right)
            return true
        }
        x = min(right, width)
        state = .first
        return false
    }

    private mutating func escape(_ code: UInt8) -> Event? {
        switch code {
        case 0:
            x = 0
            return .row
        case 1: return .end
        case 2: state = .right
        default:
            let bytes = isNibbles ? (Int(code) + 1) / 2 : Int(code)
            state = .literal(rest: Int(code), hasPadding: bytes % 2 != 0)
        }
        return nil
    }

    private mutating func readLiteral(_ byte: UInt8, rest: Int, hasPadding: Bool) {
        let count = isNibbles ? min(rest, 2) : 1
        for position in 0..<count { put(isNibbles ? nibble(byte, position) : byte) }
        guard rest == count else {
            state = .literal(rest: rest - count, hasPadding: hasPadding)
            return
        }
        state = hasPadding ? .padding : .first
    }

    private func nibble(_ byte: UInt8, _ position: Int) -> UInt8 { position % 2 == 0 ? byte >> 4 : byte & 15 }

    /// Pixels beyond the right edge are dropped.
    private mutating func put(_ index: UInt8) {
        guard x < width else { return }
        indices[x] = index
        x += 1
    }
}
