import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Sharpens edges like libvips and imgproxy: where the lightness (L of CIE Lab, 0 to 100) differs by more than 2
    /// from a blurred copy, three times the excess is added, at most 10 to lighter and 20 to darker. Colours stay.
    ///
    /// - Parameter sigma: the standard deviation of the blur, in pixels, from 0.01 to 1000.
    public static func sharpenLightness(sigma: Double) -> ImageTransform {
        ImageTransform(SharpenLightness(sigma: sigma))
    }
}

struct SharpenLightness: WrittenOperation, PlannedOperation {
    static let name = "sharpen-lightness"
    static let usage = "sharpen-lightness:SIGMA"
    static let sigmas = 0.01...1000.0
    /// Weights below this fraction of the middle one are left out, as in libvips.
    private static let cut = 0.1

    let sigma: Double

    init(sigma: Double) { self.sigma = sigma }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        sigma = try arguments.next("a sigma in pixels").number(in: Self.sigmas, "a sharpening's sigma")
    }

    var text: String { TransformText(Self.name).add(sigma).text }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let sigma = try checked(sigma, in: Self.sigmas, "a sharpening's sigma")
        try Resampler.checkSides(builder.size)
        builder.sharpen(
            SharpenPlan(blur: BlurPlan.gaussian(builder.size, sigma: sigma, cut: Self.cut), rule: .lightness))
    }
}
