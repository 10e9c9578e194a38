import WebImage

/// The work of convert for one input, from the request to the report.
struct ConvertJob: ListJob {
    let input: String
    let index: Int
    let output: OutputDestinations.Place
    let picture: PictureOptions
    let writing: ConvertOptions
    let limits: InputOptions
    let transforms: [ImageTransform]
    let manager: ImageManager
    let display: ProgressDisplay
    /// Whether only failures are reported.
    let isQuiet: Bool

    func run() async -> PictureReport {
        var report = PictureReport(input: input)
        do throws(WebImageError) {
            try await convert(into: &report)
        } catch {
            report.fail(error)
        }
        let isTold = report.isTold(output: output.path, isQuiet: isQuiet, json: picture.json)
        display.end(index, isWell: report.status == .ok) { [report] in
            if isTold { report.tell(json: picture.json, plain: report.plain) }
        }
        return report
    }

    private func convert(into report: inout PictureReport) async throws(WebImageError) {
        let known = try outputFormat
        if let known {
            // Checked before anything is loaded.
            do throws(WebImageError) {
                _ = try manager.coders.encoder(for: known, EncodeOptions(isLossless: writing.lossless))
            } catch { throw error.at(output.path) }
        }
        var request = try await request(for: known)
        // A TIFF's further pages are only read once it is known that there are some.
        request.includesData = known.map { manager.coders.writesPages($0) } ?? true
        let response = try await load(request, report.shownInput)
        report.take(response)
        if response.partialError != nil, !picture.allowPartial { return }
        let format = PictureEncoding.format(
            of: response.image, asked: known, output: output.path, isNamed: output.isNamed, coders: manager.coders)
        var encoding = writing.encoding(picture)
        encoding.anymap = picture.anymap(of: output.path)
        let begin = ContinuousClock.now
        request.decoding.allowsPartial = picture.allowPartial
        let bytes = try await manager.encode(response, allPagesOf: request, as: format, encoding) {
            report.failPartly($0)
        }
        report.encode = ContinuousClock.now - begin
        try OutputFiles.write(bytes, to: output.path)
        report.output = .init(path: output.path, format: format, image: response.image, bytes: bytes)
    }

    /// Loads the picture; a transfer shows a bar on a terminal.
    private func load(_ request: ImageRequest, _ name: String) async throws(WebImageError) -> ImageResponse {
        // A load that is followed also makes previews, for which a file has no need.
        guard display.isOn, request.url.prefix(4).lowercased() == "http" else {
            return try await manager.image(for: request)
        }
        display.begin(index, name: name)
        for await event in manager.events(for: request) {
            switch event {
            case .progress(let progress): display.show(progress, of: index)
            case .finished(let result): return try result.get()
            case .cached, .preview: break
            }
        }
        throw .cancelled
    }

    /// - Parameter format: the format of the output; nil if it is that of the input.
    private func request(for format: ImageFormat?) async throws(WebImageError) -> ImageRequest {
        var request = try await InputBytes.request(for: input, limits)
        request.caching.policy = .noStore
        request.size = try? picture.targetSize
        request.transformers = transforms
        request.decoding.firstFrameOnly = picture.firstFrame
        // With `--lossless`, several frames are an error instead.
        if let format, !writing.lossless, manager.coders.writesOnlyStills(format) {
            request.decoding.firstFrameOnly = true
        }
        request.decoding.scalesInLinearLight = picture.linearLight
        request.decoding.appliesOrientation = writing.orientation == "apply"
        request.decoding.ignoresOrientation = writing.orientation == "ignore"
        request.decoding.convertsToSRGB = writing.convertsToSRGB(for: format)
        request.decoding.allowsPartial = true
        request.decoding.keepsBitDepth = request.needsBitDepth(for: format, isLossless: writing.lossless)
        return request
    }

    /// The format that the options or the output's name request; nil if it is that of the input.
    private var outputFormat: ImageFormat? {
        get throws(WebImageError) {
            if let asked = picture.outputFormat { return asked }
            // The names of most streams, such as /dev/fd/3, tell no format.
            if OutputFiles.isStream(output.path), PictureEncoding.format(namedBy: output.path) == nil { return nil }
            try OutputFiles.checkIsNoFolder(output.path)
            if !output.isNamed { return nil }
            return try PictureEncoding.named(by: output.path, manager.coders)
        }
    }
}
