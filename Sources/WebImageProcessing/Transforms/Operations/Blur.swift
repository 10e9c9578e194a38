import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Blurs the picture with a Gaussian, at the same cost for every radius. Beyond the edges the edge pixels are
    /// repeated.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, at most 1000; the blur reaches about three times as far. 0 does
    ///     nothing.
    ///   - cut: leaves out weights below this fraction of the central weight, as libvips and imgproxy do to save time
    ///     (they use 0.2), and rounds the others to twentieths. If the kernel still reaches farther than 31 pixels, a
    ///     full Gaussian of the same width is used. Default nil: no visible weight is left out.
    public static func blur(sigma: Double, cut: Double? = nil) -> ImageTransform {
        ImageTransform(Blur(sigma: sigma, cut: cut))
    }
}

struct Blur: WrittenOperation, PlannedOperation {
    static let name = "blur"
    static let usage = "blur:SIGMA[:cut=0.2]"
    static let sigmas = 0.0...1000.0
    static let cuts = 0.001...0.999

    let sigma: Double
    let cut: Double?

    init(sigma: Double, cut: Double?) {
        self.sigma = sigma
        self.cut = cut
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        sigma = try arguments.next("a sigma in pixels").number(in: Self.sigmas, "a blur's sigma")
        cut = try arguments.named("cut")?.number(in: Self.cuts, "a blur's cut")
    }

    var text: String {
        let text = TransformText(Self.name).add(sigma)
        return cut.map { text.add("cut=" + $0.shortText) }?.text ?? text.text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let sigma = try checked(sigma, in: Self.sigmas, "a blur's sigma")
        if let cut { _ = try checked(cut, in: Self.cuts, "a blur's cut") }
        // A smaller sigma would not reach a neighbouring pixel.
        guard sigma >= 0.1 else { return }
        try Resampler.checkSides(builder.size)
        builder.filter(BlurPlan.gaussian(builder.size, sigma: sigma, cut: cut))
    }
}
