import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// The pictures that one decode can make: those that want the same scale of the same original.
struct DecodeGroup {
    let coder: any ImageCoder
    let scaleDenominator: Int
    let jobs: [PixelJob]
    /// What the decode will hold in memory, estimated from above.
    let memory: Int

    init(coder: any ImageCoder, scaleDenominator: Int, jobs: [PixelJob], header: ImageHeader) {
        self.coder = coder
        self.scaleDenominator = scaleDenominator
        self.jobs = jobs
        memory = Self.memory(for: jobs, header: header, scaleDenominator: scaleDenominator)
    }

    /// Sorts pictures by the scale that is best for each; the first one's group comes first.
    static func grouping(_ jobs: [PixelJob], header: ImageHeader, coder: any ImageCoder) -> [DecodeGroup] {
        let allowed = coder.scaleDenominators(for: header)
        var order: [Int] = []
        var members: [Int: [PixelJob]] = [:]
        for job in jobs {
            let plan = job.request.resizePlan(stored: header.size, orientation: header.orientation)
            let scale = plan.isIdentity ? 1 : plan.scaleDenominator(from: allowed, margin: coder.scalingMargin)
            if members[scale] == nil { order.append(scale) }
            members[scale, default: []].append(job)
        }
        return order.map { scale in
            DecodeGroup(coder: coder, scaleDenominator: scale, jobs: members[scale] ?? [], header: header)
        }
    }

    /// What is to be made for those who still wait. Who asks for more pixels than allowed is told so; the others do not
    /// suffer from it.
    func makeTargets(header: ImageHeader, orientation: Orientation, loader: Loader) -> [DecodeTarget] {
        var targets: [DecodeTarget] = []
        for job in jobs where !job.isAbandoned.load(ordering: .relaxed) {
            let plan = job.request.resizePlan(stored: header.size, orientation: orientation)
            do throws(WebImageError) {
                try job.request.limits.check(plan.outputStored, of: header.format)
            } catch {
                loader.finish(job, .failure(error.endingALoad(of: job.request.place)))
                continue
            }
            targets.append(
                DecodeTarget(
                    job: job, plan: plan, scaleDenominator: scaleDenominator, header: header,
                    converter: loader.converter(for: header, job.request)))
        }
        return targets
    }

    /// Formats whose decoders hold some rows only.
    private static let rowFormats: Set<ImageFormat> = [.jpeg, .png, .apng, .gif, .qoi, .pnm]

    private static func memory(for jobs: [PixelJob], header: ImageHeader, scaleDenominator: Int) -> Int {
        // A size that a request only hopes for must not overflow the sum: makeTargets refuses it, whatever this says.
        let most = 1 << 40
        let stored = min(header.size.pixelCount ?? most, most)
        let pixelBytes = jobs.first?.request.keepsBitDepth == true && header.bitDepth > 8 ? 8 : 4
        // A progressive JPEG keeps 2 bytes for each coefficient, an interlaced PNG the whole picture, and the libraries
        // of the younger formats theirs beside ours.
        let keepsAll = header.isProgressive || !rowFormats.contains(header.format)
        var memory = keepsAll ? stored * (pixelBytes + 2) : min(header.size.width, most) * pixelBytes * 64
        for job in jobs {
            let plan = job.request.resizePlan(stored: header.size, orientation: header.orientation)
            let pixels = min(plan.outputStored.pixelCount ?? most, most, max(job.request.limits.pixels, 0))
            memory += pixels * pixelBytes * (header.orientation == .up ? 1 : 2)
        }
        return memory
    }
}

extension ImageRequest {
    /// What part of a picture is scaled to which size for this request.
    func resizePlan(stored: PixelSize, orientation: Orientation) -> ResizePlan {
        if let bitmapLimit { return ResizePlan(stored: stored, orientation: orientation, byteLimit: bitmapLimit) }
        return ResizePlan(stored: stored, orientation: orientation, target: size)
    }
}
