import WebImageCore

/// One frame, by its descriptor and control extension.
struct GIFFrame {
    var x = 0
    var y = 0
    var size = PixelSize(width: 0, height: 0)
    var isInterlaced = false
    /// How many bits an index into the frame's own colour table has; nil without a table.
    var paletteBits: Int?
    var transparentIndex: Int?
    /// The control extension's disposal method: 2 clears the frame's area, 3 and 4 restore its former content.
    var disposal = 0
    /// In hundredths of a second.
    var delay = 0

    /// Whether the frame covers the whole canvas.
    func covers(_ canvas: PixelSize) -> Bool { x == 0 && y == 0 && size.covers(canvas) }
}

/// Parses a GIF as its bytes arrive (GIF89a specification, sections 17 to 27). Keeps no more of them than a colour
/// table.
struct GIFBlockReader {
    enum Piece {
        case descriptor(GIFFrame)
        /// The frame's data follows.
        case dataBegins(codeSize: Int)
        case data(UnsafeBufferPointer<UInt8>)
        case frameEnds
        case trailer
    }

    private enum Block {
        case control
        case application
        case image
        case other
    }

    private enum State {
        case screen
        case globalTable(bytes: Int)
        case introducer
        case label
        case descriptor
        case localTable(bytes: Int)
        case codeSize
        case length(Block)
        case contents(Block, rest: Int)
        case ended
    }

    private(set) var canvas = PixelSize(width: 0, height: 0)
    /// How often the animation plays, 0: forever. Netscape's extension counts the repetitions after the first time.
    private(set) var loopCount: Int?
    private(set) var frameCount = 0
    private var globalTable: [UInt8] = []
    private var localTable: [UInt8]?
    /// The last control extension, which concerns the next frame.
    private var control = GIFFrame()
    private var state = State.screen
    private var collected = ByteCollector()
    /// The XMP packet, and the bytes of an incomplete one. The lengths of its blocks are a part of it.
    private(set) var xmp: [UInt8]?
    private var partOfXMP: [UInt8] = []
    private let metadataLimit: Int
    /// The relevant part of an extension: an application's name and the loop count.
    private static let extensionLength = 19

    init(metadataLimit: Int = DecodeLimits.default.metadata.bytes) { self.metadataLimit = metadataLimit }

    /// Whether the bytes so far end between blocks: some files have no trailer, but none ends within a block.
    var isBetweenBlocks: Bool {
        switch state {
        case .introducer, .ended: true
        default: false
        }
    }

    /// Red, green and blue of the current frame's colours.
    var colors: [UInt8] { localTable ?? globalTable }

    /// The next piece; removes the used bytes from `input`. nil if all of `input` is used up.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Piece? {
        while !input.isEmpty {
            switch state {
            case .screen:
                guard let bytes = collect(13, &input) else { return nil }
                readScreen(bytes)
            case .globalTable(let count):
                guard let bytes = collect(count, &input) else { return nil }
                globalTable = bytes
                state = .introducer
            case .introducer:
                if try beginBlock(takeByte(&input)) { return .trailer }
            case .label: beginExtension(takeByte(&input))
            case .descriptor:
                guard let bytes = collect(9, &input) else { return nil }
                return .descriptor(readDescriptor(bytes))
            case .localTable(let count):
                guard let bytes = collect(count, &input) else { return nil }
                localTable = bytes
                state = .codeSize
            case .codeSize:
                state = .length(.image)
                return .dataBegins(codeSize: Int(takeByte(&input)))
            case .length(let block):
                let count = Int(takeByte(&input))
                state = .contents(block, rest: count)
                if block == .application, isXMP { keepXMP([UInt8(count)]) }
                if count == 0, let piece = end(block) { return piece }
            case .contents(let block, let rest):
                let data = input.takeFirst(rest)
                state = data.count == rest ? .length(block) : .contents(block, rest: rest - data.count)
                if block == .image { return .data(data) }
                if block == .application, isXMP { keepXMP(data) }
                var part = data
                _ = collected.collect(Self.extensionLength, &part)
            case .ended: return nil
            }
        }
        return nil
    }

    // MARK: blocks

    private mutating func readScreen(_ bytes: [UInt8]) {
        canvas = PixelSize(width: word(bytes, 6), height: word(bytes, 8))
        state = bytes[10] & 0x80 == 0 ? .introducer : .globalTable(bytes: tableLength(bytes[10]))
    }

    /// - Returns: whether the file ends here.
    private mutating func beginBlock(_ introducer: UInt8) throws(WebImageError) -> Bool {
        switch introducer {
        case 0x21: state = .label
        case 0x2C: state = .descriptor
        // Some files have superfluous block terminators.
        case 0: break
        default:
            // The last frame is often not followed by the trailer; the pictures are valid nevertheless.
            guard introducer == 0x3B || frameCount > 0 else {
                throw WebImageError(
                    .corruptData, "the GIF has a block of an unknown kind (\(introducer))", format: .gif)
            }
            state = .ended
            return true
        }
        return false
    }

    private mutating func beginExtension(_ label: UInt8) {
        switch label {
        case 0xF9: state = .length(.control)
        case 0xFF: state = .length(.application)
        default: state = .length(.other)
        }
        collected.removeAll()
    }

    private mutating func readDescriptor(_ bytes: [UInt8]) -> GIFFrame {
        let flags = bytes[8]
        let hasOwnColors = flags & 0x80 != 0
        let globalBits = globalTable.isEmpty ? nil : (globalTable.count / 3).trailingZeroBitCount
        let frame = GIFFrame(
            x: word(bytes, 0), y: word(bytes, 2), size: PixelSize(width: word(bytes, 4), height: word(bytes, 6)),
            isInterlaced: flags & 0x40 != 0, paletteBits: hasOwnColors ? Int(flags & 7) + 1 : globalBits,
            transparentIndex: control.transparentIndex, disposal: control.disposal, delay: control.delay)
        control = GIFFrame()
        localTable = nil
        frameCount += 1
        state = hasOwnColors ? .localTable(bytes: tableLength(flags)) : .codeSize
        return frame
    }

    /// The end of a block's data.
    private mutating func end(_ block: Block) -> Piece? {
        state = .introducer
        switch block {
        case .image: return .frameEnds
        case .control:
            guard collected.count >= 4 else { break }
            control.transparentIndex = collected.bytes[0] & 1 != 0 ? Int(collected.bytes[3]) : nil
            control.disposal = Int(collected.bytes[0] >> 2 & 7)
            control.delay = word(collected.bytes, 1)
        case .application:
            if isXMP { endXMP() }
            guard let repetitions = repetitions(collected.bytes) else { break }
            loopCount = repetitions == 0 ? 0 : repetitions + 1
        case .other: break
        }
        collected.removeAll()
        return nil
    }

    /// The number of repetitions in an application extension; nil if it has none.
    private func repetitions(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 14,
            ["NETSCAPE2.0", "ANIMEXTS1.0"].contains(String(decoding: bytes[..<11], as: UTF8.self))
        else { return nil }
        // The size of a buffer may stand before the repetitions.
        let start = bytes[11] == 2 ? 16 : 11
        guard bytes.count >= start + 3, bytes[start] == 1 else { return nil }
        return word(bytes, start + 1)
    }

    /// XMP specification part 3, 1.1.2: the packet is stored unchanged instead of blocks, followed by descending
    /// numbers that lead a reader of blocks to its end from any position.
    private var isXMP: Bool { collected.bytes.starts(with: "XMP DataXMP".utf8) && xmp == nil }

    private mutating func keepXMP(_ bytes: some Collection<UInt8>) {
        // One byte over the limit shows that there was more.
        let room = min(metadataLimit, 1 << 40) + Self.trailerLength + 1 - partOfXMP.count
        partOfXMP.append(contentsOf: bytes.prefix(max(room, 0)))
    }

    private static let trailerLength = 257

    private mutating func endXMP() {
        // The terminating length is not a part of it.
        let packet = partOfXMP.dropLast().dropLast(Self.trailerLength)
        let isWhole = partOfXMP.dropFirst(packet.count).starts(with: [0x01, 0xFF, 0xFE])
        if isWhole, !packet.isEmpty, packet.count <= metadataLimit { xmp = Array(packet) }
        partOfXMP = []
    }

    private func tableLength(_ flags: UInt8) -> Int { 3 << (Int(flags & 7) + 1) }

    private func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

    // MARK: bytes

    /// - Precondition: `input` is not empty.
    private func takeByte(_ input: inout UnsafeBufferPointer<UInt8>) -> UInt8 {
        let byte = input[0]
        input = UnsafeBufferPointer(rebasing: input.dropFirst())
        return byte
    }

    /// Returns `count` bytes when they have all arrived.
    private mutating func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        collected.collect(count, &input) ? collected.take() : nil
    }
}
