import ServerGrammar
import WebImage

extension PictureMaker {
    /// The deadline of a picture, and its priority among others.
    struct Allowance {
        var deadline: ContinuousClock.Instant
        var priority: LoadPriority
    }

    /// Encodes a picture, repeatedly with lower quality while the result has more bytes than the URL allows.
    ///
    /// - Throws: `deadlineExceeded` if that takes too long. An encoder in a process of its own is then ended; one in
    ///   this process stops at its next frame or percent.
    func encode(
        _ image: Image, as format: ResultFormat, isAPNG: Bool, _ plan: PicturePlan, _ allowance: Allowance
    ) async throws(WebImageError) -> [UInt8] {
        var options = plan.encodeOptions(format, paletteBits: image.info.header?.paletteBits)
        if isAPNG { options.firstFrameOnly = false }
        let imageFormat = isAPNG ? .apng : format.imageFormat
        var bytes = try await encode(image, as: imageFormat, options, allowance)
        let most = plan.options.maxBytes
        guard most > 0, format.hasQuality, var quality = options.quality else { return bytes }
        while bytes.count > most, quality > 10 {
            let over = Double(bytes.count) / Double(most)
            let factor = over > 3 ? 0.25 : over > 1.5 ? 0.5 : 0.75
            quality = min(quality - 1, Int((Double(quality) * factor).rounded()))
            options.quality = max(quality, 1)
            bytes = try await encode(image, as: imageFormat, options, allowance)
        }
        return bytes
    }

    private func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions, _ allowance: Allowance
    ) async throws(WebImageError) -> [UInt8] {
        let left = max(allowance.deadline - .now, .zero)
        return try await Hedge<Result<[UInt8], WebImageError>>(patience: left) { _ in true }.value {
            do throws(WebImageError) {
                return .success(
                    try await manager.encode(image, as: format, options, priority: allowance.priority))
            } catch {
                return .failure(error)
            }
        } orElse: {
            .failure(
                WebImageError(
                    .deadlineExceeded,
                    "the picture could not be encoded in time; raise IMGPROXY_TIMEOUT to allow it, or ask for a smaller one"
                ))
        }.get()
    }
}
