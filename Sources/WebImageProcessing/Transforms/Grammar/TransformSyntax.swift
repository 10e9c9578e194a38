/// The syntax of one kind of step.
struct TransformSyntax: Sendable {
    /// The name at the beginning of the step.
    let name: String
    /// The whole step, for messages: `blur:SIGMA`.
    let usage: String
    /// Makes the operation from the arguments after the name.
    let make: @Sendable (inout TransformArguments) throws(TransformSyntaxError) -> any TransformOperation

    init(
        name: String, usage: String,
        make: @escaping @Sendable (inout TransformArguments) throws(TransformSyntaxError) -> any TransformOperation
    ) {
        self.name = name
        self.usage = usage
        self.make = make
    }

    init<Operation: WrittenOperation>(_ type: Operation.Type) {
        self.init(name: type.name, usage: type.usage) { (arguments) throws(TransformSyntaxError) in
            try Operation(&arguments)
        }
    }

    /// All kinds of steps.
    static let all: [TransformSyntax] =
        [
            .crop, TransformSyntax(Resize.self), TransformSyntax(Flip.self), TransformSyntax(Turn.self),
            TransformSyntax(Rotate.self), TransformSyntax(Trim.self), TransformSyntax(Pad.self),
            TransformSyntax(Extend.self), TransformSyntax(Background.self), TransformSyntax(RoundCorners.self),
            TransformSyntax(Blur.self), TransformSyntax(Sharpen.self), TransformSyntax(SharpenLightness.self),
            TransformSyntax(Pixelate.self),
            TransformSyntax(Tint.self), TransformSyntax(Colors.self), TransformSyntax(Lookup.self),
            TransformSyntax(Vignette.self), TransformSyntax(Watermark.self), TransformSyntax(Imgproxy.self),
            TransformSyntax(ImgproxyCanvas.self),
        ] + NamedColors.Kind.allCases.map { TransformSyntax($0) }
}

/// An operation whose text is exactly one kind of step.
protocol WrittenOperation: TransformOperation {
    static var name: String { get }
    static var usage: String { get }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError)
}
