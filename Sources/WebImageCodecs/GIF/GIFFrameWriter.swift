import WebImageCore

/// Writes a frame's indices as pixels on a transparent canvas, which is passed on to a sink.
struct GIFFrameWriter {
    /// First row and step of the four passes of an interlaced frame (GIF89a specification, appendix E), and how many
    /// rows each row stands for until the other passes arrive.
    private static let passes: [(first: Int, step: Int, stands: Int)] = [(0, 8, 8), (4, 8, 4), (2, 4, 2), (1, 2, 1)]

    private let frame: GIFFrame
    private let canvas: PixelSize
    private let options: DecodeOptions
    private var bands: BandWriter
    /// An interlaced frame's canvas.
    private var whole: WholePicture?
    /// Red, green, blue, alpha of each index.
    private var colors = [UInt32](repeating: 0, count: 256)
    /// The indices of an incomplete row.
    private var partial: [UInt8] = []
    private(set) var framesRowsDone = 0
    private(set) var isComplete = false
    private var pass = 0
    private var passRow = 0
    /// How many indices came since the last checkpoint. Rows outside the canvas are not written, and so have no other
    /// checkpoint.
    private var unchecked = 0
    private static let checkInterval = 64 << 10

    init(
        _ sink: any RowSink, _ format: RowFormat, _ frame: GIFFrame, _ options: DecodeOptions
    ) throws(WebImageError) {
        self.frame = frame
        self.canvas = format.size
        self.options = options
        bands = BandWriter(sink, format, options)
        guard frame.isInterlaced else { return }
        let whole = try WholePicture(sink, format)
        whole.base.initializeMemory(as: UInt8.self, repeating: 0, count: format.bytesPerRow * canvas.height)
        self.whole = whole
    }

    /// An index without a colour is black, as in browsers.
    mutating func setColors(_ table: [UInt8], transparentIndex: Int?) throws(WebImageError) {
        for index in 0..<256 {
            var color: UInt32 = 0xFF00_0000
            if index * 3 + 2 < table.count {
                color |= UInt32(table[index * 3]) | UInt32(table[index * 3 + 1]) << 8
                color |= UInt32(table[index * 3 + 2]) << 16
            }
            colors[index] = index == transparentIndex ? 0 : color.littleEndian
        }
        try clearRows(to: min(frame.y, canvas.height))
        if frame.size.isEmpty { try end() }
    }

    /// Writes the frame's next indices.
    mutating func write(_ indices: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        unchecked += indices.count
        if unchecked >= Self.checkInterval {
            unchecked = 0
            try options.checkpoint?()
        }
        var rest = indices
        let width = frame.size.width
        while !rest.isEmpty, !isComplete {
            if partial.isEmpty, rest.count >= width {
                try writeRow(UnsafeBufferPointer(rebasing: rest.prefix(width)))
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(width))
                continue
            }
            let count = min(width - partial.count, rest.count)
            partial.append(contentsOf: rest.prefix(count))
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(count))
            guard partial.count == width else { return }
            let row = partial
            partial.removeAll(keepingCapacity: true)
            try row.withUnsafeBufferPointer { bytes throws(WebImageError) in try writeRow(bytes) }
        }
    }

    /// Passes on all complete rows.
    mutating func flush() throws(WebImageError) { try bands.flush() }

    /// Passes on the available part of a frame whose data has ended: in an interlaced frame, available rows are
    /// repeated in place of missing ones.
    mutating func finishEarly() throws(WebImageError) {
        guard !isComplete else { return }
        try bands.flush()
        guard let whole, framesRowsDone > 0 else { return }
        let known = pass > 0 ? canvas.height : min(canvas.height, frame.y + passRow)
        try whole.emit(rows: known, options)
        self.whole = nil
    }

    /// The known part of an interlaced picture; nil before its first pass is complete.
    func preview() throws(WebImageError) -> PixelBuffer? {
        guard let whole, pass > 0 else { return nil }
        let copy = try PixelBuffer(size: canvas, layout: .rgba8)
        copy.base.copyMemory(from: whole.base, byteCount: copy.byteCount.bytes)
        return copy
    }

    private mutating func writeRow(_ indices: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        if let whole {
            writeInterlaced(indices, whole)
        } else if frame.y + framesRowsDone < canvas.height {
            let target = try bands.nextRow()
            paint(indices, target)
            try bands.rowIsDone()
        }
        framesRowsDone += 1
        if framesRowsDone == frame.size.height || frame.y + nextTop >= canvas.height { try end() }
    }

    /// The topmost of the frame's rows that are still to come.
    private var nextTop: Int {
        guard frame.isInterlaced else { return framesRowsDone }
        let later = Self.passes.dropFirst(pass + 1).map(\.first)
        return later.reduce(Self.passes[pass].first + passRow, min)
    }

    private mutating func writeInterlaced(_ indices: UnsafeBufferPointer<UInt8>, _ whole: WholePicture) {
        // Low frames have no rows in some passes.
        while pass < 3, Self.passes[pass].first + passRow >= frame.size.height { (pass, passRow) = (pass + 1, 0) }
        let (first, step, stands) = Self.passes[pass]
        let top = frame.y + first + passRow
        passRow += step
        let bottom = min(top + stands, frame.y + frame.size.height, canvas.height)
        guard top < bottom else { return }
        paint(indices, whole.row(top))
        for row in (top + 1)..<max(bottom, top + 1) {
            whole.row(row).copyMemory(from: whole.row(top), byteCount: whole.format.bytesPerRow)
        }
    }

    /// Writes a row of the canvas: the frame's pixels, and transparent ones next to them.
    private func paint(_ indices: UnsafeBufferPointer<UInt8>, _ row: UnsafeMutableRawPointer) {
        let left = min(frame.x, canvas.width)
        let count = min(indices.count, canvas.width - left)
        let pixels = row.assumingMemoryBound(to: UInt32.self)
        if left > 0 { pixels.update(repeating: 0, count: left) }
        colors.withUnsafeBufferPointer { colors in
            guard let colors = colors.baseAddress, let indices = indices.baseAddress else { return }
            let target = pixels + left
            var index = 0
            while index < count {
                target[index] = colors[Int(indices[index])]
                index &+= 1
            }
        }
        let right = left + count
        if right < canvas.width { (pixels + right).update(repeating: 0, count: canvas.width - right) }
    }

    /// The frame is complete: the rows below it are transparent.
    private mutating func end() throws(WebImageError) {
        isComplete = true
        if let whole {
            try whole.emit(rows: canvas.height, options)
            self.whole = nil
        } else {
            try clearRows(to: canvas.height)
        }
    }

    private mutating func clearRows(to end: Int) throws(WebImageError) {
        guard whole == nil else { return }
        while bands.row < end {
            try bands.nextRow().initializeMemory(as: UInt8.self, repeating: 0, count: bands.format.bytesPerRow)
            try bands.rowIsDone()
        }
    }
}
