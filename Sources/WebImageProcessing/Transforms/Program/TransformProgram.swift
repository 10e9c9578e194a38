package import WebImageCore

/// An operation that needs all pixels at once.
protocol WholeOperation: Sendable {
    /// Whether the operation takes pixels of 16 bits a channel as well as of 8.
    var takesDeepPixels: Bool { get }
    /// - Parameters:
    ///   - image: an upright picture, with any alpha mode.
    ///   - layout: the layout of a result with new colours. A result with the picture's colours may keep the picture's
    ///     layout.
    ///   - checkpoint: called now and then; its error ends the operation.
    func apply(
        _ image: Image, to layout: PixelLayout, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) -> Image
}

/// A chain of transforms, compiled for pictures of one size. A value: several threads may run it at once.
///
/// Operations that need few rows at a time pass rows of floats from stage to stage, which are rounded once, at the end.
/// Operations that need all pixels at once are between passes; intermediate pictures are rounded to 16 bits a channel.
package struct TransformProgram: Sendable {
    enum Part: Sendable {
        case pass(TransformPass, isOpaque: Bool)
        case whole(any WholeOperation)
        /// Compiled when the size of the preceding picture is known.
        case rest(ArraySlice<ImageTransform>)
    }

    /// Called between rows, by every thread that takes a part. Its error ends the program.
    package typealias Checkpoint = @Sendable () throws(WebImageError) -> Void

    /// Threads that take a part of a large picture while they are idle.
    package struct Helpers: Sendable {
        /// The number of bands for each thread, so that no thread waits long for another.
        static let bandsPerThread = 2

        let threads: any IdleThreads
        /// From this number of pixels on, source and result together, another thread is worthwhile.
        let minPixels: Double
        /// The share of the source that all bands together may read more than once.
        let maxRepeated: Double

        package init(_ threads: any IdleThreads, minPixels: Double = 1_000_000, maxRepeated: Double = 0.05) {
            self.threads = threads
            self.minPixels = minPixels
            self.maxRepeated = maxRepeated
        }
    }

    let parts: [Part]
    /// The size of the result; nil if it depends on pixels.
    package let output: PixelSize?
    private let limits: DecodeLimits

    init(parts: [Part], output: PixelSize?, limits: DecodeLimits) {
        self.parts = parts
        self.output = output
        self.limits = limits
    }

    /// - Parameters:
    ///   - size: the size of the pictures, in display orientation.
    ///   - isOpaque: whether all their pixels are opaque.
    ///   - original: the properties of the pictures' file; nil if there is none.
    ///   - limits: the limits for the result and intermediate pictures.
    /// - Throws: `limitExceeded` if the result or an intermediate picture is too large, `transformFailed` for a
    ///   transform that cannot be applied to a picture of this size.
    package init(
        _ transforms: [ImageTransform], size: PixelSize, isOpaque: Bool, original: OriginalPicture? = nil,
        limits: DecodeLimits = .default
    ) throws(WebImageError) {
        try self.init(transforms[...], size: size, isOpaque: isOpaque, original: original, limits: limits)
    }

    private init(
        _ transforms: ArraySlice<ImageTransform>, size: PixelSize, isOpaque: Bool, original: OriginalPicture?,
        limits: DecodeLimits
    ) throws(WebImageError) {
        var builder = ProgramBuilder(size: size, isOpaque: isOpaque, original: original, limits: limits)
        for index in transforms.indices {
            let rest = transforms[(index + 1)...]
            if let program = try transforms[index].operation.compile(into: &builder, before: rest) {
                self = program
                return
            }
            // What steps have computed in advance, such as weights, is released before the next ones are compiled.
            if index - transforms.startIndex + 1 >= Self.mostSteps, !rest.isEmpty {
                self = builder.finish(then: rest)
                return
            }
        }
        self = builder.finish()
    }

    /// How many steps are compiled at a time.
    private static let mostSteps = 64

    /// Whether the program leaves pictures unchanged.
    package var isIdentity: Bool { parts.isEmpty }

    // For tests.

    package var passCount: Int { passes.count }
    package var stageCount: Int { passes.reduce(0) { $0 + $1.stages.count } }
    package var pointCount: Int {
        passes.flatMap(\.stages).reduce(0) { count, stage in
            if case .points(let operations) = stage.work { count + operations.count } else { count }
        }
    }

    private var passes: [TransformPass] {
        parts.compactMap { if case .pass(let pass, _) = $0 { pass } else { nil } }
    }

    /// Runs the program on this thread.
    ///
    /// - Parameters:
    ///   - image: an upright picture of the size for which the program was made.
    ///   - helpers: threads that take a part of a large picture while they are idle. The result is the same.
    ///   - frames: the crops that the frames of the same animation share; nil if the picture is not a frame.
    ///   - checkpoint: ends the program early. A closure that gets the whole picture is not interrupted.
    /// - Throws: `limitExceeded` without memory, and errors of the checkpoint and of the program's closures.
    package func run(
        _ image: Image, with helpers: Helpers? = nil, among frames: FrameCuts? = nil, checkpoint: Checkpoint? = nil
    ) throws(WebImageError) -> Image {
        let layout = image.layout
        var image = image
        var program = self
        var cutsDone = 0
        // A loop and not a recursion: a chain may have thousands of operations that need the preceding picture's size.
        while let rest = try program.runParts(&image, to: layout, helpers, frames, checkpoint, &cutsDone) {
            program = try TransformProgram(
                rest, size: image.size, isOpaque: image.alpha == .opaque, original: image.info.original, limits: limits)
        }
        return try image.with(layout: layout)
    }

    /// - Parameter layout: the layout of the result of the whole chain.
    /// - Returns: the transforms that remain, for which the size is now known; nil if there are none.
    private func runParts(
        _ image: inout Image, to layout: PixelLayout, _ helpers: Helpers?, _ frames: FrameCuts?,
        _ checkpoint: Checkpoint?, _ cutsDone: inout Int
    ) throws(WebImageError) -> ArraySlice<ImageTransform>? {
        for (index, part) in parts.enumerated() {
            try checkpoint?()
            switch part {
            case .pass(let pass, let isOpaque):
                var info = image.info
                info.alpha = isOpaque ? .opaque : .straight
                if pass.turn != .up { info.metadata = info.metadata.turned(by: pass.turn) }
                let pixels = try pass.run(image, to: layoutBehind(index, layout), with: helpers, checkpoint)
                image = Image(pixels: pixels, info: info)
            case .whole(let operation):
                if !operation.takesDeepPixels { image = try image.with(layout: layout) }
                guard let frames, let cut = operation as? any CuttingOperation else {
                    image = try operation.apply(image, to: layoutBehind(index, layout), checkpoint)
                    continue
                }
                image = try image.cut(by: try frames.cut(cutsDone, of: image, by: cut, checkpoint))
                cutsDone += 1
            case .rest(let rest): return rest
            }
        }
        return nil
    }

    /// The layout of the result of a part. Intermediate pictures have 16 bits a channel, if the next part takes them.
    private func layoutBehind(_ index: Int, _ layout: PixelLayout) -> PixelLayout {
        guard index + 1 < parts.count else { return layout }
        if case .whole(let next) = parts[index + 1], !next.takesDeepPixels { return layout }
        return .rgba16
    }
}

extension Image {
    /// The same picture with the layout's bits a channel.
    fileprivate func with(layout: PixelLayout) throws(WebImageError) -> Image {
        if layout == self.layout { return self }
        return Image(pixels: try pixels.inLayout(layout), info: info)
    }
}
