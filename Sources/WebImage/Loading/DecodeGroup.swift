import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// The pictures that one decode can make: those that want the same scale of the same original.
struct DecodeGroup {
    /// What a decoder is told to give.
    struct Scale: Hashable {
        var denominator = 1
        /// For vector pictures: what is drawn at which size.
        var raster: VectorRaster?
        /// Which of the sizes that the file has the picture in; nil: the header's.
        var size: PixelSize?
    }

    let coder: any ImageCoder
    let scale: Scale
    let jobs: [PixelJob]
    /// What the decode will hold in memory, estimated from above.
    let memory: Int

    init(coder: any ImageCoder, scale: Scale = Scale(), jobs: [PixelJob], header: ImageHeader) {
        self.coder = coder
        self.scale = scale
        self.jobs = jobs
        memory = Self.memory(for: jobs, header: header)
    }

    /// Sorts pictures by the scale that is best for each; the first one's group comes first.
    static func grouping(_ jobs: [PixelJob], header: ImageHeader, coder: any ImageCoder) -> [DecodeGroup] {
        let allowed = coder.scaleDenominators(for: header)
        var order: [Scale] = []
        var members: [Scale: [PixelJob]] = [:]
        for job in jobs {
            let plan = job.request.resizePlan(for: header, orientation: header.orientation)
            var scale = Scale()
            if header.isVector {
                scale.raster = VectorRaster(part: plan.crop, size: plan.outputStored)
            } else if let size = plan.source(among: header.otherSizes) {
                scale.size = size
            } else if !plan.isIdentity, !job.request.scalesInLinearLight {
                // What a codec scales is averaged as it is stored.
                scale.denominator = plan.scaleDenominator(from: allowed, margin: coder.scalingMargin)
            }
            if members[scale] == nil { order.append(scale) }
            members[scale, default: []].append(job)
        }
        return order.map { scale in
            DecodeGroup(coder: coder, scale: scale, jobs: members[scale] ?? [], header: header)
        }
    }

    /// What is to be made for those who still wait. Who asks for more pixels than allowed is told so; the others do not
    /// suffer from it.
    func makeTargets(header: ImageHeader, orientation: Orientation, loader: Loader) -> [DecodeTarget] {
        var targets: [DecodeTarget] = []
        for job in jobs where !job.isAbandoned.load(ordering: .relaxed) {
            var plan = job.request.resizePlan(for: header, orientation: orientation)
            do throws(WebImageError) {
                try job.request.limits.check(plan.outputStored, of: header.format)
            } catch {
                loader.finish(job, .failure(error.endingALoad(of: job.request.place)))
                continue
            }
            // A vector picture's rows come as they are to be.
            if scale.raster != nil { plan = ResizePlan(stored: plan.outputStored, orientation: orientation) }
            if let size = scale.size { plan = ResizePlan(plan, from: size) }
            let target = DecodeTarget(
                job: job, plan: plan, scaleDenominator: scale.denominator, header: header,
                converter: loader.converter(for: header, job.request))
            target.beginAnimation(coder, executor: loader.decodeExecutor)
            targets.append(target)
        }
        return targets
    }

    /// Formats whose decoders hold some rows only.
    private static let rowFormats: Set<ImageFormat> = [.jpeg, .png, .apng, .gif, .qoi, .pnm]

    private static func memory(for jobs: [PixelJob], header: ImageHeader) -> Int {
        // A size that a request only hopes for must not overflow the sum: makeTargets refuses it, whatever this says.
        let most = 1 << 40
        let stored = min(header.size.pixelCount ?? most, most)
        let pixelBytes = jobs.first?.request.keepsBitDepth == true && header.bitDepth > 8 ? 8 : 4
        // A progressive JPEG keeps 2 bytes for each coefficient, an interlaced PNG the whole picture, and the libraries
        // of the younger formats theirs beside ours.
        let keepsAll = header.isProgressive || !rowFormats.contains(header.format)
        var memory = keepsAll ? stored * (pixelBytes + 2) : min(header.size.width, most) * pixelBytes * 64
        // The natural size of a vector picture costs nothing; what it is drawn at does.
        if header.isVector { memory = 0 }
        for job in jobs {
            let plan = job.request.resizePlan(for: header, orientation: header.orientation)
            if header.isVector { memory += min(header.drawingMemory.bytes(at: plan.outputStored).bytes, most) }
            let pixels = min(plan.outputStored.pixelCount ?? most, most, max(job.request.limits.pixels, 0))
            memory += pixels * pixelBytes * (header.orientation == .up ? 1 : 2)
        }
        return memory
    }
}

extension ImageRequest {
    /// What part of a picture is scaled to which size for this request.
    func resizePlan(for header: ImageHeader, orientation: Orientation) -> ResizePlan {
        if let bitmapLimit {
            let layout: PixelLayout = keepsBitDepth && header.bitDepth > 8 ? .rgba16 : .rgba8
            return ResizePlan(
                stored: header.size, orientation: orientation, byteLimit: bitmapLimit,
                bytesPerPixel: layout.bytesPerPixel)
        }
        var target = size
        if header.isVector { target?.upscale = true }
        return ResizePlan(stored: header.size, orientation: orientation, target: target)
    }
}
