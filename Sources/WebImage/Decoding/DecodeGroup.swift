import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// What a decoder is told to give.
struct DecodeScale: Hashable {
    var denominator = 1
    /// For vector pictures: what is drawn at which size.
    var raster: VectorRaster?
    /// Which of the sizes that the file has the picture in; nil: the header's.
    var size: PixelSize?
}

extension ImageFormat {
    /// Those whose decoders hold some rows only.
    fileprivate static let decodedInRows: Set<ImageFormat> = [.jpeg, .png, .apng, .gif, .qoi, .pnm]
}

/// The pictures that one decode can make: those that want the same scale of the same original.
struct DecodeGroup<Order: PictureOrder> {
    let coder: any ImageCoder
    let scale: DecodeScale
    let orders: [Order]
    /// What the decode will hold in memory, estimated from above.
    let memory: Int

    init(coder: any ImageCoder, scale: DecodeScale = DecodeScale(), orders: [Order], header: ImageHeader) {
        self.coder = coder
        self.scale = scale
        self.orders = orders
        memory = Self.memory(for: orders, header: header)
    }

    /// Sorts pictures by the scale that is best for each; the first one's group comes first.
    static func grouping(_ orders: [Order], header: ImageHeader, coder: any ImageCoder) -> [DecodeGroup] {
        let allowed = coder.scaleDenominators(for: header)
        var scales: [DecodeScale] = []
        var members: [DecodeScale: [Order]] = [:]
        for order in orders {
            let recipe = order.recipe
            // What cannot be done is told when its target is made.
            let plan = recipe.plan(for: header)
            var scale = DecodeScale()
            if header.isVector {
                scale.raster = VectorRaster(part: plan.crop, size: plan.outputStored)
            } else if let size = plan.source(among: header.otherSizes) {
                scale.size = size
            } else if !plan.isIdentity, !recipe.decoding.scalesInLinearLight {
                // What a codec scales is averaged as it is stored.
                scale.denominator = plan.scaleDenominator(from: allowed, margin: coder.scalingMargin)
            }
            if members[scale] == nil { scales.append(scale) }
            members[scale, default: []].append(order)
        }
        return scales.map { scale in
            DecodeGroup(coder: coder, scale: scale, orders: members[scale] ?? [], header: header)
        }
    }

    /// What is to be made of an order.
    ///
    /// - Throws: `limitExceeded` when it asks for more pixels than it allows.
    func makeTarget(
        _ order: Order, header: ImageHeader, orientation: Orientation, service: DecodeService
    ) throws(WebImageError) -> DecodeTarget {
        let recipe = order.recipe
        var plan = try recipe.resizePlan(for: header, orientation: orientation)
        try recipe.decoding.limits.check(plan.outputStored, of: header.format)
        // A vector picture's rows come as they are to be.
        if scale.raster != nil { plan = ResizePlan(stored: plan.outputStored, orientation: plan.orientation) }
        if let size = scale.size { plan = ResizePlan(plan, from: size) }
        let target = DecodeTarget(
            recipe, plan: plan, scaleDenominator: scale.denominator, header: recipe.reading(header),
            converter: try service.converter(for: header, recipe))
        target.beginAnimation(coder, executor: service.executor)
        return target
    }

    private static func memory(for orders: [Order], header: ImageHeader) -> Int {
        // A size that an order only hopes for must not overflow the sum: makeTarget refuses it, whatever this says.
        let most = 1 << 40
        let stored = min(header.size.pixelCount ?? most, most)
        let pixelBytes = orders.first?.recipe.decoding.keepsBitDepth == true && header.bitDepth > 8 ? 8 : 4
        // A progressive JPEG keeps 2 bytes for each coefficient, an interlaced PNG the whole picture, and the libraries
        // of the younger formats theirs beside ours.
        let keepsAll = header.isProgressive || !ImageFormat.decodedInRows.contains(header.format)
        var memory = keepsAll ? stored * (pixelBytes + 2) : min(header.size.width, most) * pixelBytes * 64
        // The natural size of a vector picture costs nothing; what it is drawn at does.
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
    /// The plan for estimates; where there is none, that of the whole picture.
    fileprivate func plan(for header: ImageHeader) -> ResizePlan {
        (try? resizePlan(for: header, orientation: header.orientation)) ?? ResizePlan(stored: header.size)
    }

    /// What part of a picture is scaled to which size.
    ///
    /// - Throws: `transformFailed` for a part outside of the picture.
    func resizePlan(for header: ImageHeader, orientation: Orientation) throws(WebImageError) -> ResizePlan {
        let orientation = decoding.ignoresOrientation ? .up : orientation
        if let bitmapLimit = decoding.bitmapLimit {
            let layout: PixelLayout = decoding.keepsBitDepth && header.bitDepth > 8 ? .rgba16 : .rgba8
            return ResizePlan(
                stored: header.size, orientation: orientation, byteLimit: bitmapLimit,
                bytesPerPixel: layout.bytesPerPixel)
        }
        return try geometry.plan(stored: header.size, orientation: orientation, isVector: header.isVector)
    }
}
