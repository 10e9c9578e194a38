import WebImage

/// One input of convert, from request to report.
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
    /// Whether only failures are told.
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
            // Asked before anything is loaded.
            do throws(WebImageError) {
                _ = try manager.coders.encoder(for: known, EncodeOptions(isLossless: writing.lossless))
            } catch { throw error.at(output.path) }
        }
        var request = try await request(for: known)
        // Of a TIFF's pages all but the first are read once it is known that there are some.
        request.includesData = known.map { manager.coders.writesPages($0) } ?? true
        let response = try await load(request, report.shownInput)
        report.take(response)
        if response.partialError != nil, !picture.allowPartial { return }
        let format = PictureEncoding.format(
            of: response.image, asked: known, output: output.path, coders: manager.coders)
        var encoding = writing.encoding(picture)
        encoding.anymap = picture.anymap(of: output.path)
        let begin = ContinuousClock.now
        request.decoding.allowsPartial = picture.allowPartial
        let bytes = try await manager.encode(response, allPagesOf: request, as: format, encoding)
        report.encode = ContinuousClock.now - begin
        try OutputFiles.write(bytes, to: output.path)
        report.output = .init(path: output.path, format: format, image: response.image, bytes: bytes)
    }

    /// Loads the picture; a transfer shows a bar on a terminal.
    private func load(_ request: ImageRequest, _ name: String) async throws(WebImageError) -> ImageResponse {
        // A load that is followed also makes previews, for which a file has no need.
        guard display.isOn, request.url.lowercased().hasPrefix("http") else {
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

    /// - Parameter format: the output's; nil: the input's.
    private func request(for format: ImageFormat?) async throws(WebImageError) -> ImageRequest {
        var request = try await InputBytes.request(for: input, limits)
        request.caching.policy = .noStore
        request.size = try? picture.targetSize
        request.transformers = transforms
        request.decoding.firstFrameOnly = picture.firstFrame
        // If nothing may be lost, more frames than one are an error.
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

    /// What was asked for or the output's name says; nil: as the input.
    private var outputFormat: ImageFormat? {
        get throws(WebImageError) {
            if let asked = picture.outputFormat { return asked }
            // The names of most streams, such as /dev/fd/3, tell nothing.
            if OutputFiles.isStream(output.path), PictureEncoding.format(namedBy: output.path) == nil { return nil }
            try OutputFiles.checkIsNoFolder(output.path)
            if !output.isNamed { return nil }
            return try PictureEncoding.named(by: output.path, manager.coders)
        }
    }
}
