#if SVG || PDF
    import WebImageCore

    /// A vector picture that a library has read: its size, and how it is drawn.
    protocol VectorDocument {
        /// In the drawing's own units; the header's size is the nearest whole number.
        var width: Double { get }
        var height: Double { get }
        var header: ImageHeader { get }

        /// The canvas, valid as long as the document.
        ///
        /// - Throws: `limitExceeded`, `corruptData`.
        func draw(_ canvas: VectorCanvas) throws(WebImageError) -> CairoRows
    }

    /// Collects a document and draws it when it is complete.
    final class VectorDecoder: CollectingDecoder {
        /// - Throws: the reason why the document cannot be read.
        typealias Open = (CollectedBytes, DecodeOptions) throws(WebImageError) -> any VectorDocument

        private let options: DecodeOptions
        private let bytes: CollectedBytes
        private let open: Open
        private let format: ImageFormat
        private var planner: DecodePlanner?
        private var isDone = false
        private(set) var header: ImageHeader?

        init(_ format: ImageFormat, _ options: DecodeOptions, plan: @escaping DecodePlanner, open: @escaping Open) {
            self.format = format
            self.options = options
            self.open = open
            planner = plan
            bytes = CollectedBytes(options.limits, format: format)
        }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard !isDone else { return .complete }
            try options.checkpoint?()
            try bytes.append(piece)
            return .needsBytes
        }

        func push(whole file: WholeFile) throws(WebImageError) -> DecodeState {
            try bytes.take(file)
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isDone else { return }
            isDone = true
            try options.checkpoint?()
            guard bytes.count > 0 else {
                throw WebImageError(.truncatedData, "there is no data", format: format)
            }
            let document = try open(bytes, options)
            let header = document.header
            self.header = header
            let plan = try planner?(header)
            planner = nil
            guard let plan, let sink = plan.sink else { return }
            let canvas = try VectorCanvas(
                plan.raster, header: header, width: document.width, height: document.height, options.limits)
            try options.checkpoint?()
            let rows = try document.draw(canvas)
            try withExtendedLifetime(document) { () throws(WebImageError) in try rows.emit(into: sink, options) }
        }
    }
#endif
