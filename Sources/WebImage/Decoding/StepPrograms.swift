import Synchronization
import WebImageCore
import WebImageProcessing
import WebImageSystem

/// The compiled steps of a recipe, for frames of the same size: each run of transforms is compiled once. Any thread may
/// use it.
final class StepPrograms: Sendable {
    private struct Key: Hashable {
        let step: Int
        let size: PixelSize
        let isOpaque: Bool
        let original: OriginalPicture?
    }

    private let limits: DecodeLimits
    /// The steps after decoding, with consecutive transforms grouped.
    private let runs: [Run]
    /// For each run, the part that frames keep; nil for independent pictures.
    private let cuts: [FrameCuts]?
    /// Whether a frame was run and has decided for the others, or no frame decides.
    private let isDecided: Atomic<Bool>
    private let programs = Guarded<[Key: TransformProgram]>([:])

    fileprivate enum Run: Sendable {
        case values([ImageTransform])
        case own(any ImageTransformer)
    }

    /// - Parameter isForFrames: whether the pictures are the frames of one animation.
    init(_ steps: ArraySlice<any ImageTransformer>, limits: DecodeLimits, isForFrames: Bool = false) {
        self.limits = limits
        runs = Self.runs(of: steps)
        cuts = isForFrames ? runs.map { _ in FrameCuts() } : nil
        let mayCut = steps.contains { ($0 as? ImageTransform)?.mayCutByPixels == true }
        isDecided = Atomic(!isForFrames || !mayCut)
    }

    private static func runs(of steps: ArraySlice<any ImageTransformer>) -> [Run] {
        var runs: [Run] = []
        var values: [ImageTransform] = []
        func endValues() {
            if !values.isEmpty { runs.append(.values(values)) }
            values = []
        }
        for step in steps {
            if let value = step as? ImageTransform {
                values.append(value)
            } else {
                endValues()
                runs.append(.own(step))
            }
        }
        endValues()
        return runs
    }

    /// Whether the first frame must be run before all others, since it decides which part they keep.
    var needsFirst: Bool { !isDecided.load(ordering: .relaxed) }

    /// Applies the steps to a picture.
    ///
    /// - Parameters:
    ///   - helpers: threads that take a part of a large picture while they are idle.
    ///   - checkpoint: called between rows; once it throws, it always does. Transformers that get the whole picture are
    ///     not interrupted.
    /// - Throws: `transformFailed`, and the error of the checkpoint.
    func run(
        _ image: Image, with helpers: (any IdleThreads)? = nil, checkpoint: TransformProgram.Checkpoint? = nil
    ) throws(WebImageError) -> Image {
        var image = image
        for (index, run) in runs.enumerated() {
            try checkpoint?()
            do throws(WebImageError) {
                switch run {
                case .own(let transformer): image = try transformer.transform(image)
                case .values(let transforms):
                    let upright = try image.upright()
                    image = try program(index, transforms, for: upright)
                        .run(
                            upright, with: helpers.map { TransformProgram.Helpers($0) }, among: cuts?[index],
                            checkpoint: checkpoint)
                }
            } catch {
                // Throws the checkpoint's own error, if that was the cause. A transformer's closure may throw
                // `cancelled`, too.
                try checkpoint?()
                throw WebImageError(.transformFailed, "the transformer \(run.name) failed", cause: error)
            }
        }
        isDecided.store(true, ordering: .relaxed)
        return image
    }

    /// The resulting size for a picture of a size; nil if it depends on the pixels.
    func size(of size: PixelSize, original: OriginalPicture?) -> PixelSize? {
        var size = size
        for run in runs {
            guard case .values(let transforms) = run,
                let program = try? TransformProgram(
                    transforms, size: size, isOpaque: false, original: original, limits: limits),
                let output = program.output
            else { return nil }
            size = output
        }
        return size
    }

    private func program(
        _ step: Int, _ transforms: [ImageTransform], for image: Image
    ) throws(WebImageError) -> TransformProgram {
        let key = Key(
            step: step, size: image.size, isOpaque: image.alpha == .opaque,
            original: image.info.original)
        if let known = programs.withLock({ $0[key] }) { return known }
        let program = try TransformProgram(
            transforms, size: key.size, isOpaque: key.isOpaque, original: key.original, limits: limits)
        programs.withLock { programs in
            // Only closures that return frames of many sizes cause this.
            if programs.count >= 16 { programs.removeAll() }
            programs[key] = program
        }
        return program
    }
}

extension StepPrograms.Run {
    fileprivate var name: String {
        switch self {
        case .values(let transforms): ImageTransform.text(of: transforms)
        case .own(let transformer): transformer.key
        }
    }
}
