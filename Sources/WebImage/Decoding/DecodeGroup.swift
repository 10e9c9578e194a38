import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// What pictures must have in common to share a decode.
private struct SharedDecode: Hashable {
    let scale: DecodeScale
    /// Of a file that may be animated: the frames that are read. A damaged frame, or one too many, is an error only for those
    /// that read it.
    var isStill = false
    var frameLimit: Int?
}

/// The scale and size that a decoder is asked for.
struct DecodeScale: Hashable {
    var denominator = 1
    /// For vector pictures: the part to draw, and its size.
    var raster: VectorRaster?
    /// The size to decode among those that the file contains of the picture; nil: the header's size.
    var size: PixelSize?
}

/// The pictures that one decode can make: those that need the same scale of the same original.
struct DecodeGroup<Order: PictureOrder> {
    let coder: any ImageCoder
    let scale: DecodeScale
    let orders: [Order]
    /// An upper bound of the memory that the decode will hold.
    let memory: Int
    /// Whether the decoder gives 16 bits a channel for a picture of more than 8, even if the pictures keep only 8 in
    /// the end.
    let isDeep: Bool

    init(
        coder: any ImageCoder, scale: DecodeScale = DecodeScale(), orders: [Order], header: ImageHeader,
        isDeep: Bool = false
    ) {
        self.coder = coder
        self.scale = scale
        self.orders = orders
        self.isDeep = isDeep || orders.first?.recipe.decoding.keepsBitDepth == true
        memory = Self.memory(for: orders, scale, header: header, isDeep: self.isDeep)
    }

    /// Whether a picture of more than 8 bits must be decoded with 16, because its colours are converted: if they were
    /// rounded to 8 bits before the conversion, dark colours would show bands.
    private static func mustBeDeep(_ orders: [Order], header: ImageHeader) -> Bool {
        header.bitDepth > 8 && orders.contains { $0.recipe.converts(header) }
    }

    /// Groups pictures by the best scale for each; the group of the first picture comes first.
    static func grouping(_ orders: [Order], header: ImageHeader, coder: any ImageCoder) -> [DecodeGroup] {
        let isDeep = mustBeDeep(orders, header: header)
        var kinds: [SharedDecode] = []
        var members: [SharedDecode: [Order]] = [:]
        for order in orders {
            let recipe = order.recipe
            // Errors are reported when the target is made.
            let plan = recipe.plan(for: header)
            var scale = DecodeScale()
            if header.isVector {
                scale.raster = VectorRaster(part: plan.crop, size: plan.outputStored)
            } else if let size = plan.source(among: header.otherSizes) {
                scale.size = size
            } else if !plan.isIdentity, !recipe.decoding.scalesInLinearLight {
                // A codec scales stored values, not linear light.
                let decoded = recipe.decoding.firstFrameOnly ? header.ofFirstFrame : header
                scale.denominator = plan.scaleDenominator(from: coder.scaleDenominators(for: decoded)) {
                    coder.scalingMargin(for: header, denominator: $0)
                }
            }
            var kind = SharedDecode(scale: scale)
            if header.mayBeAnimated {
                kind.isStill = recipe.decoding.firstFrameOnly
                kind.frameLimit = kind.isStill ? nil : recipe.decoding.frameLimit
            }
            if members[kind] == nil { kinds.append(kind) }
            members[kind, default: []].append(order)
        }
        return kinds.map { kind in
            DecodeGroup(coder: coder, scale: kind.scale, orders: members[kind] ?? [], header: header, isDeep: isDeep)
        }
    }

    /// Makes the target of an order.
    ///
    /// - Throws: `limitExceeded` if the order asks for more pixels than its limits allow.
    func makeTarget(
        _ order: Order, header: ImageHeader, orientation: Orientation, service: DecodeService
    ) throws(WebImageError) -> DecodeTarget {
        let recipe = order.recipe
        var plan = try recipe.resizePlan(for: header, orientation: orientation)
        try recipe.decoding.limits.check(result: plan.outputStored, of: header.format)
        // The rows of a vector picture have the final size already.
        if scale.raster != nil { plan = ResizePlan(stored: plan.outputStored, orientation: plan.orientation) }
        if let size = scale.size { plan = ResizePlan(plan, from: size) }
        let layout: PixelLayout = isDeep && header.bitDepth > 8 ? .rgba16 : .rgba8
        let target = DecodeTarget(
            recipe, plan: plan, scaleDenominator: scale.denominator, header: recipe.reading(header),
            converter: try service.converter(for: header, recipe, layout: layout))
        target.beginAnimation(coder, layout, by: service)
        return target
    }

    private static func memory(
        for orders: [Order], _ scale: DecodeScale, header: ImageHeader, isDeep: Bool
    ) -> Int {
        // A huge requested size must not overflow the sum; makeTarget refuses such a size in any case.
        let most = 1 << 40
        let stored = min(header.size.pixelCount ?? most, most)
        let pixelBytes = isDeep && header.bitDepth > 8 ? 8 : 4
        // The decoder of a JPEG with several scans keeps 2 bytes for each coefficient, that of an interlaced PNG or a PFM
        // the whole picture, and the libraries of newer formats their own copy of the picture.
        let keepsAll = header.isProgressive || header.keepsWholePicture || !header.format.has(.rowDecoder)
        var memory = keepsAll ? stored * (pixelBytes + 2) : min(header.size.width, most) * pixelBytes * 64
        if keepsAll, header.isDividedByFrequencies, scale.denominator > 1 {
            // Only the coefficients that show are kept, and a bit for each of the others.
            memory = stored * 5 / scale.denominator
        }
        // The canvas of an animation, and a copy of it for each frame.
        let isAnimated = header.mayBeAnimated && orders.contains { !$0.recipe.decoding.firstFrameOnly }
        if isAnimated, header.format.has(.rowDecoder) || header.format == .webp { memory += 2 * stored * pixelBytes }
        // For a vector picture the drawn size counts, not the natural size.
        if header.isVector { memory = 0 }
        for order in orders {
            let recipe = order.recipe
            let plan = recipe.plan(for: header)
            if header.isVector { memory += min(header.drawingMemory.bytes(at: plan.outputStored).bytes, most) }
            let pixels = min(plan.outputStored.pixelCount ?? most, most, max(recipe.decoding.limits.pixels, 0))
            memory += pixels * pixelBytes * (plan.orientation == .up ? 1 : 2)
        }
        return memory
    }
}

extension PictureRecipe {
    /// Whether the colours of a picture are converted to sRGB.
    func converts(_ header: ImageHeader) -> Bool {
        decoding.convertsToSRGB && header.colors.map { $0 != .described(.sRGB) } ?? false
    }

    /// The plan for estimates; if there is none, that of the whole picture.
    fileprivate func plan(for header: ImageHeader) -> ResizePlan {
        (try? resizePlan(for: header, orientation: header.orientation)) ?? ResizePlan(stored: header.size)
    }

    /// The part of a picture that is scaled, and the size to which it is scaled.
    ///
    /// - Throws: `transformFailed` for a part outside of the picture.
    func resizePlan(for header: ImageHeader, orientation: Orientation) throws(WebImageError) -> ResizePlan {
        let orientation = ignoresOrientation(of: header) ? .up : orientation
        if let bitmapLimit = decoding.bitmapLimit {
            let layout: PixelLayout = decoding.keepsBitDepth && header.bitDepth > 8 ? .rgba16 : .rgba8
            return ResizePlan(
                stored: header.size, orientation: orientation, byteLimit: bitmapLimit,
                bytesPerPixel: layout.bytesPerPixel)
        }
        return try geometry.plan(
            stored: header.size, orientation: orientation, isTagged: header.isOrientedByTag, isVector: header.isVector,
            shrinking: ImgproxyShrinking(header))
    }
}

extension ImageHeader {
    /// The header as that of a still. Compositing an animation's frames needs the whole canvas; the first frame alone
    /// does not.
    fileprivate var ofFirstFrame: ImageHeader {
        var header = self
        header.frameCount = 1
        return header
    }
}
