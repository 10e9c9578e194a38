/// The format of the rows that a sink receives.
public struct RowFormat: Hashable, Sendable, Codable {
    /// The size of the picture that the rows form: the stored size, or a scaled one.
    public var size: PixelSize
    public var layout: PixelLayout
    /// `opaque` or `straight`; decoders never produce premultiplied rows.
    public var alpha: AlphaMode

    public init(size: PixelSize, layout: PixelLayout, alpha: AlphaMode) {
        self.size = size
        self.layout = layout
        self.alpha = alpha
    }

    public var bytesPerRow: Int { size.width * layout.bytesPerPixel }
}

/// A destination to which a decoder writes rows: a buffer, a resampler, or several sinks at once.
///
/// The decoder calls ``begin(_:)`` once, then for each run of rows, from the top, it asks for a ``band(at:count:)`` to
/// write into, and calls ``commit(at:count:)`` when the rows are written. So rows are written in place and not copied.
/// A sink is used by one thread at a time.
public protocol RowSink: AnyObject {
    /// Announces the rows to come.
    func begin(_ format: RowFormat) throws(WebImageError)

    /// Returns memory for `count` consecutive rows from row `row` on, with `format.bytesPerRow` bytes each. It is valid
    /// until the next call of a method of this sink.
    ///
    /// - Throws: `limitExceeded` when there is no memory for them.
    func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer

    /// Marks the rows `row` to `row + count - 1` of the last band as complete.
    func commit(at row: Int, count: Int) throws(WebImageError)

    /// The memory of the whole picture, if the sink keeps it. A decoder that produces rows several times may then
    /// refine them in place before it commits them. Nil if rows can only be given once.
    var wholePicture: UnsafeMutableRawPointer? { get }

    /// False when further rows are not needed, for example after the last row of a crop. A decoder that needs nothing
    /// else from the rest of its data should then stop. It may go on, but damage after that row need not be found.
    var wantsRows: Bool { get }
}

extension RowSink {
    public var wholePicture: UnsafeMutableRawPointer? { nil }
    public var wantsRows: Bool { true }
}

/// A sink that keeps the picture as it is decoded.
package final class PixelBufferSink: RowSink {
    package private(set) var buffer: PixelBuffer?
    package private(set) var format: RowFormat?
    /// The number of complete rows from the top.
    package private(set) var rowsDone = 0

    package init() {}

    package func begin(_ format: RowFormat) throws(WebImageError) {
        buffer = try PixelBuffer(size: format.size, layout: format.layout)
        self.format = format
        rowsDone = 0
    }

    package func band(at row: Int, count: Int) -> UnsafeMutableRawPointer {
        guard let buffer else { preconditionFailure("a band was asked for before begin") }
        return buffer.row(row)
    }

    package func commit(at row: Int, count: Int) {
        rowsDone = max(rowsDone, row + count)
    }

    package var wholePicture: UnsafeMutableRawPointer? { buffer?.base }

    /// Makes the missing rows transparent black, for a picture whose data ended early.
    package func clearMissingRows() {
        guard let buffer, rowsDone < buffer.size.height else { return }
        let rest = (buffer.size.height - rowsDone) * buffer.bytesPerRow
        buffer.row(rowsDone).initializeMemory(as: UInt8.self, repeating: 0, count: rest)
    }
}

/// A sink that passes the same rows to several others, so that one decode serves many sizes.
package final class FanOutSink: RowSink {
    private let sinks: [any RowSink]
    /// The sink whose own memory the decoder writes into; the others get a copy.
    private var leader = 0
    private var bytesPerRow = 0
    private var rows: UnsafeMutableRawPointer?

    package init(_ sinks: [any RowSink]) {
        precondition(!sinks.isEmpty, "a fan-out needs a sink")
        self.sinks = sinks
    }

    package func begin(_ format: RowFormat) throws(WebImageError) {
        bytesPerRow = format.bytesPerRow
        for sink in sinks { try sink.begin(format) }
        leader = sinks.firstIndex { $0.wholePicture != nil } ?? 0
    }

    package func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        let band = try sinks[leader].band(at: row, count: count)
        rows = band
        return band
    }

    package func commit(at row: Int, count: Int) throws(WebImageError) {
        guard let rows else { preconditionFailure("rows were committed before a band was asked for") }
        for (index, sink) in sinks.enumerated() where index != leader {
            try sink.band(at: row, count: count).copyMemory(from: rows, byteCount: count * bytesPerRow)
            try sink.commit(at: row, count: count)
        }
        try sinks[leader].commit(at: row, count: count)
    }

    package var wholePicture: UnsafeMutableRawPointer? { sinks[leader].wholePicture }

    package var wantsRows: Bool { sinks.contains { $0.wantsRows } }
}
