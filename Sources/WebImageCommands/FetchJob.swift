import Foundation
import WebImage

/// The work of fetch for one input, from the request to the report.
struct FetchJob: ListJob {
    let input: String
    let index: Int
    let loading: LoadOptions
    let options: PictureOptions
    let output: OutputDestinations.Place?
    let previews: PreviewFolder?
    let manager: ImageManager
    let display: ProgressDisplay
    var transforms: [ImageTransform] = []
    /// Whether only failures are reported.
    var isQuiet = false
    /// Receives the trace of the load; nil if traces are not wanted.
    var traces: TraceOutput?
    /// How an original that is cached or written unchanged is checked; nil if the picture is decoded.
    var check: OriginalCheck?

    var turn: ListTurn? { loading.turn(of: input) }

    func run() async -> PictureReport {
        var report = PictureReport(input: input)
        var trace: String?
        display.begin(index, name: report.shownInput)
        do throws(WebImageError) {
            let request = try await makeRequest()
            if let check {
                try await keep(request, check, &report)
            } else {
                var writer = previews.map { PreviewWriter(folder: $0, input: input, index: index, manager: manager) }
                let response = try await load(request, &writer)
                report.take(response)
                trace = traces?.take(response.trace)
                if response.partialError == nil, !options.changesPicture, !options.allowPartial {
                    // This checks all frames. If the picture is encoded again, the encoder decodes them in any case.
                    try await response.image.animation?.decodeAll()
                    if !options.firstFrame { try await manager.checkPages(of: response, request) }
                }
                if response.partialError == nil || options.allowPartial {
                    try await write(response, to: request, into: &report)
                }
                // The picture was written even so.
                if let failure = writer?.failure, report.status == .ok { report.failPartly(failure) }
            }
        } catch {
            report.fail(error)
            trace = trace ?? traces?.take(error.trace)
        }
        let isTold = report.isTold(output: output?.path, isQuiet: isQuiet, json: options.json)
        display.end(index, isWell: report.status == .ok) { [report, trace] in
            if isTold { report.tell(json: options.json, plain: report.plain) }
            if let trace { Console.err(trace) }
        }
        return report
    }

    /// Loads the original into the cache, and writes it unchanged.
    private func keep(
        _ request: ImageRequest, _ check: OriginalCheck, _ report: inout PictureReport
    ) async throws(WebImageError) {
        let response = try await manager.keepOriginal(for: request, check: check) { [display, index] progress in
            display.show(progress, of: index)
        }
        report.take(response)
        guard let output = output?.path, let data = response.data else { return }
        try OutputFiles.write(data, to: output)
        let size = response.header.orientation.displaySize(of: response.header.size)
        report.output = .init(path: output, format: response.header.format, size: size, byteCount: data.count)
    }

    private func makeRequest() async throws(WebImageError) -> ImageRequest {
        // Checked before anything is loaded.
        if let output, output.isNamed, options.changesPicture, options.format == nil,
            !OutputFiles.isStream(output.path)
        {
            _ = try PictureEncoding.named(by: output.path, manager.coders)
        }
        var request = try await loading.makeRequest(input)
        request.size = try? options.targetSize
        request.transformers = transforms
        request.decoding.allowsPartial = check == nil
        request.decoding.firstFrameOnly =
            options.firstFrame
            || options.changesPicture && outputFormat.map { manager.coders.writesOnlyStills($0) } ?? false
        request.decoding.scalesInLinearLight = options.linearLight
        // The process waits for its stores in any case. Waiting here lets it report how long this one took.
        request.caching.waitsForStore = true
        request.includesData = output != nil && (!options.changesPicture || mayWritePages)
        return request
    }

    private func load(
        _ request: ImageRequest, _ writer: inout PreviewWriter?
    ) async throws(WebImageError) -> ImageResponse {
        var shown: ImageResponse?
        for await event in manager.events(for: request) {
            switch event {
            // A newer picture is waited for.
            case .cached(let response): shown = response
            case .progress(let progress): display.show(progress, of: index)
            case .preview(let image): await writer?.write(image)
            case .finished(.failure(let error)):
                // With the policy `refresh`, the cached picture is used if the origin cannot be reached.
                guard let shown, error.leavesCachedPicture else { throw error }
                if !isQuiet, !options.json {
                    let name = PictureReport(input: input).shownInput
                    display.tell { Console.err("\(name): not renewed: \(PictureReport.sentence(error))") }
                }
                return shown
            case .finished(.success(var response)):
                // If there was no newer picture, the report names the source from which the cached one came, and not
                // memory.
                if response.source == .memory, let shown {
                    (response.source, response.byteCount) = (shown.source, shown.byteCount)
                }
                return response
            }
        }
        throw .cancelled
    }

    /// Whether further pages of a TIFF may be written. They are only read once it is known that there are some.
    private var mayWritePages: Bool { outputFormat.map { manager.coders.writesPages($0) } ?? false }

    /// The format that the options or the output's name request.
    private var outputFormat: ImageFormat? {
        options.outputFormat
            ?? output.flatMap { PictureEncoding.suffix(of: $0.path) }.flatMap { ImageFormat(fileExtension: $0) }
    }

    private func write(
        _ response: ImageResponse, to request: ImageRequest, into report: inout PictureReport
    ) async throws(WebImageError) {
        guard let output = output?.path else { return }
        let isCutToOneFrame = options.firstFrame && response.header?.frameCount != 1
        // A format that is only read, such as PDF, has got the name of another one.
        let isOnlyRead = response.header.map { (try? manager.coders.encoder(for: $0.format)) == nil } ?? false
        let isNamedOtherwise = options.firstFrame && isOnlyRead && !(self.output?.isNamed ?? false)
        guard options.changesPicture || isCutToOneFrame || isNamedOtherwise else {
            let data = response.data ?? []
            try OutputFiles.write(data, to: output)
            report.output = .init(
                path: output, format: response.header?.format, size: response.image.size, byteCount: data.count)
            return
        }
        let isNamed = self.output?.isNamed ?? false
        if isNamed, options.format == nil, !OutputFiles.isStream(output), PictureEncoding.suffix(of: output) != nil {
            _ = try PictureEncoding.named(by: output, manager.coders)
        }
        let format = PictureEncoding.format(
            of: response.image, asked: options.outputFormat, output: output, isNamed: isNamed, coders: manager.coders)
        let begin = ContinuousClock.now
        var encoding = EncodeOptions(quality: options.quality)
        encoding.anymap = options.anymap(of: output)
        var settings = request
        settings.decoding.allowsPartial = options.allowPartial
        let bytes = try await manager.encode(response, allPagesOf: settings, as: format, encoding) {
            report.failPartly($0)
        }
        report.encode = ContinuousClock.now - begin
        try OutputFiles.write(bytes, to: output)
        report.output = .init(path: output, format: format, image: response.image, bytes: bytes)
    }
}

extension PictureReport {
    /// Adopts the properties of an original.
    mutating func take(_ original: OriginalResponse) {
        (source, header) = (original.source, original.header)
        (byteCount, timings) = (original.byteCount?.bytes, original.timings)
    }

    /// Adopts the results of a load.
    mutating func take(_ response: ImageResponse) {
        source = response.source
        header = response.header
        byteCount = response.byteCount?.bytes
        timings = response.timings
        if let partialError = response.partialError { failPartly(partialError) }
    }
}

/// Chooses the format of an output.
enum PictureEncoding {
    /// The format of an output that the user named.
    ///
    /// - Throws: `cannotEncode` if the name tells no format, `formatNotBuilt` if that format cannot be written.
    static func named(by output: String, _ coders: CoderRegistry) throws(WebImageError) -> ImageFormat {
        guard let format = format(namedBy: output) else {
            throw WebImageError(.cannotEncode, "the output's name has no known format; give --format", location: output)
        }
        _ = try coders.encoder(for: format)
        return format
    }

    /// The format that an output's name tells; nil if it tells none.
    static func format(namedBy output: String) -> ImageFormat? {
        suffix(of: output).flatMap { ImageFormat(fileExtension: $0) }.map(encoded)
    }

    /// The format whose encoder writes `format`: an AVIF sequence is written by the encoder for AVIF, as several
    /// frames.
    static func encoded(_ format: ImageFormat) -> ImageFormat { format == .avifSequence ? .avif : format }

    static func suffix(of output: String) -> String? {
        output.split(separator: "/").last?.split(separator: ".").dropFirst().last.map(String.init)
    }

    /// The requested format, else that of the output's name, else that of the input, else PNG for a picture with alpha
    /// and JPEG for others. The format can always be written.
    ///
    /// - Parameter isNamed: whether the user named the output. Otherwise it has the input's name, which may be wrong, and
    ///   the format of the picture comes first.
    static func format(
        of image: Image, asked: ImageFormat?, output: String, isNamed: Bool, coders: CoderRegistry
    ) -> ImageFormat {
        if let asked { return asked }
        let (named, own) = (format(namedBy: output), image.info.format.map(encoded))
        for format in isNamed ? [named, own] : [own, named] {
            if let format, (try? coders.encoder(for: format)) != nil { return format }
        }
        return image.alpha == .opaque ? .jpeg : .png
    }
}
