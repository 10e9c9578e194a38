import WebImage

/// A part of a picture, decoded at the scale at which it is shown.
///
/// The crop and the scaling are the leading geometry of the request, which the library folds into decoding.
struct SharpPart: Equatable {
    /// The part, in pixels of the original.
    let region: PixelRect
    /// The size to which the part is decoded, in pixels of the screen.
    let size: PixelSize
    let zoom: Double

    /// The part to decode for a viewport, with a margin for moving it; nil if the whole picture was decoded with enough
    /// pixels.
    ///
    /// - Parameter whole: the size to which the whole picture was decoded.
    init?(for viewport: Viewport, whole: PixelSize) {
        let picture = viewport.picture
        guard !picture.isEmpty, !whole.isEmpty else { return nil }
        let density = Double(whole.width) / Double(picture.width)
        // At a zoom of two or more, single pixels are to be visible, which the screen's scaling would blur.
        guard viewport.zoom > density * 1.02, density < 0.999 || viewport.zoom >= 2 else { return nil }
        let seen = viewport.visiblePart
        guard seen.width > 0, seen.height > 0 else { return nil }
        let (marginX, marginY) = (seen.width / 5, seen.height / 5)
        let (left, top) = (max((seen.x - marginX).rounded(.down), 0), max((seen.y - marginY).rounded(.down), 0))
        let right = min((seen.x + seen.width + marginX).rounded(.up), Double(picture.width))
        let bottom = min((seen.y + seen.height + marginY).rounded(.up), Double(picture.height))
        zoom = viewport.zoom
        region = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        size = PixelSize(
            width: max(Int((region.width * zoom).rounded()), 1), height: max(Int((region.height * zoom).rounded()), 1))
    }

    /// Whether the part is as sharp as the viewport needs it, and covers all that is visible.
    func serves(_ viewport: Viewport) -> Bool {
        let seen = viewport.visiblePart
        return zoom == viewport.zoom && region.x <= seen.x && region.y <= seen.y
            && region.x + region.width >= seen.x + seen.width && region.y + region.height >= seen.y + seen.height
    }

    /// The request for the part. The result is not kept in memory, since the next request will be for another part.
    func request(_ request: ImageRequest) -> ImageRequest {
        var request = request
        let filter: ResampleFilter = zoom >= 2 ? .box : .lanczos3
        request.transformers = [
            .crop(region),
            .resize(TargetSize(size, fit: .fill, upscale: true), filter: filter),
        ]
        request.decoding.firstFrameOnly = true
        request.caching.store = []
        request.priority = .high
        return request
    }
}
