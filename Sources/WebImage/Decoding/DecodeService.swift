import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageProcessing
import WebImageSystem

/// The resources that all decodes of a manager or a cache share: threads, memory, turns, coders and colour converters.
/// Any thread may use it.
final class DecodeService: Sendable {
    let coders: CoderRegistry
    let clock: any LoadClock
    /// The threads for decoding, encoding and transforming.
    let executor: any WorkExecutor
    /// Idle threads that help with one picture; nil if the executor does not lend threads.
    let idleThreads: (any IdleThreads)?
    /// The threads for vector pictures, whose drawing cannot be interrupted and may take any time.
    let vectorExecutor: any WorkExecutor
    /// The memory of running decodes.
    let memory: Admission
    /// The memory of originals that were read from disk and are not decoded yet.
    let inputMemory: Admission
    /// The turns of decodes that cannot be interrupted: one thread is always left for other decodes.
    let longTurns: Admission
    let vectorTurns: Admission
    /// The limits for recipes without their own.
    let limits: DecodeLimits
    private let converters: ColorConverterCache
    let isolation: DecoderPool

    /// - Parameters:
    ///   - isolation: the processes in which decoders run; nil: this process.
    ///   - executor: an executor with `width` threads.
    ///   - memory: the memory that running decodes may hold together.
    ///   - inputMemory: the memory that originals that wait for a decoder may hold together.
    init(
        coders: CoderRegistry, isolation: DecoderPool? = nil, clock: any LoadClock, executor: any WorkExecutor,
        width: Int, memory: ByteCount,
        inputMemory: ByteCount, limits: DecodeLimits = .default
    ) {
        let isolation = isolation ?? DecoderPool(.none)
        self.isolation = isolation
        self.coders = coders.isolated(by: isolation)
        converters = ColorConverterCache { (colors, layout) throws(WebImageError) in
            try isolation.converter(for: colors, layout)
        }
        self.clock = clock
        self.executor = executor
        idleThreads = executor as? any IdleThreads
        self.limits = limits
        let longWidth = max(1, width - 1)
        vectorExecutor = ThreadPool.computing(name: "wi-vector", width: longWidth)
        self.memory = Admission(budget: memory.bytes)
        self.inputMemory = Admission(budget: inputMemory.bytes)
        longTurns = Admission(budget: longWidth)
        vectorTurns = Admission(budget: longWidth)
    }

    private var admissions: [Admission] { [memory, inputMemory, longTurns, vectorTurns] }

    /// Changes the priority of everything that `owner` waits for here.
    func setPriority(_ priority: LoadPriority, of owner: AnyObject) {
        executor.setPriority(priority, of: owner)
        vectorExecutor.setPriority(priority, of: owner)
        for admission in admissions { admission.setPriority(priority, of: owner) }
    }

    /// Call it when waiting work may no longer be wanted.
    func noteLeft() { for admission in admissions { admission.noteLeft() } }

    /// The coder for a picture that begins with `prefix`: the recipe's own coder, or a registered one. The content has
    /// precedence over the recipe's hint.
    func coder(
        for format: ImageFormat?, prefix: [UInt8], _ recipe: PictureRecipe
    ) throws(WebImageError) -> any ImageCoder {
        if let coder = recipe.decoding.coder { return coder }
        return try prefix.withBytes { bytes throws(WebImageError) in
            try coders.coder(for: format ?? recipe.decoding.formatHint, prefix: bytes)
        }
    }

    func makeProbe(_ recipe: PictureRecipe) -> ImageProbe {
        ImageProbe(
            DecodeOptions(limits: recipe.decoding.ownLimits ?? limits),
            registry: recipe.decoding.coder.map { CoderRegistry([$0]) } ?? coders, hint: recipe.decoding.formatHint)
    }

    /// The header of a picture whose bytes are complete; nil if no coder here decodes it. Takes processor time.
    func header(of log: ByteLog, _ recipe: PictureRecipe) -> ImageHeader? {
        let probe = makeProbe(recipe)
        var offset = 0
        do throws(WebImageError) {
            while case .chunk(let chunk) = log.read(at: offset) {
                let header = try chunk.withUnsafeBytes { bytes throws(WebImageError) in try probe.push(bytes) }
                if let header { return header }
                offset = chunk.range.upperBound
            }
            return try probe.finish()
        } catch {
            return nil
        }
    }

    /// The converter of a picture's colours to sRGB; nil if no conversion is needed or possible.
    ///
    /// - Throws: `decoderUnavailable` if the profile must be read in a separate process, and there is none.
    func converter(
        for header: ImageHeader, _ recipe: PictureRecipe, layout: PixelLayout
    ) throws(WebImageError) -> ColorConverter? {
        guard recipe.converts(header), let colors = header.colors else { return nil }
        return try converters.converter(for: colors, layout: layout)
    }
}
