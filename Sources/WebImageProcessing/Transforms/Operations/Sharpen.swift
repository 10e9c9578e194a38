import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Sharpens edges by adding the difference between the colours of the picture and of a blurred copy ("unsharp
    /// mask"). Alpha is not changed, and transparent pixels have no weight.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation of the blur, in pixels, from 0.1 to 100. Default 1.
    ///   - amount: how much of the difference is added, 0 to 10. Default 1.
    ///   - threshold: differences below it are ignored, so that noise is not sharpened, 0 to 1. Default 0.
    public static func sharpen(sigma: Double = 1, amount: Double = 1, threshold: Double = 0) -> ImageTransform {
        ImageTransform(Sharpen(sigma: sigma, amount: amount, threshold: threshold))
    }
}

struct Sharpen: WrittenOperation, PlannedOperation {
    static let name = "sharpen"
    static let usage = "sharpen[:SIGMA][:amount=1][:threshold=0]"
    static let sigmas = 0.1...100.0
    static let amounts = 0.0...10.0

    let sigma: Double
    let amount: Double
    let threshold: Double

    init(sigma: Double, amount: Double, threshold: Double) {
        self.sigma = sigma
        self.amount = amount
        self.threshold = threshold
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        sigma = try arguments.nextIfAny()?.number(in: Self.sigmas, "a sharpening's sigma") ?? 1
        amount = try arguments.named("amount")?.number(in: Self.amounts, "an amount") ?? 1
        threshold = try arguments.named("threshold")?.number(in: 0...1, "a threshold") ?? 0
    }

    var text: String {
        TransformText(Self.name).add(sigma).add("amount", amount, unless: 1).add("threshold", threshold, unless: 0).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let sigma = try checked(sigma, in: Self.sigmas, "a sharpening's sigma")
        let amount = try checked(amount, in: Self.amounts, "a sharpening's amount")
        let threshold = try checked(threshold, in: 0...1, "a sharpening's threshold")
        try Resampler.checkSides(builder.size)
        builder.sharpen(
            SharpenPlan(
                blur: BlurPlan.gaussian(builder.size, sigma: sigma),
                rule: .colors(amount: Float(amount), threshold: Float(threshold))))
    }
}
