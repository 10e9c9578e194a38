import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Changes colours by a matrix; ``ColorMatrix`` has the usual ones: `.colors(.sepia())`.
    public static func colors(_ matrix: ColorMatrix) -> ImageTransform { ImageTransform(Colors(matrix: matrix)) }

    /// - Parameter amount: 1 (the default) removes all colour, 0 none.
    public static func gray(_ amount: Double = 1) -> ImageTransform { .named(.gray, amount) }
    /// - Parameter amount: 1 (the default) is all brown, 0 no change.
    public static func sepia(_ amount: Double = 1) -> ImageTransform { .named(.sepia, amount) }
    /// - Parameter amount: the number that is added to each component: -1 gives black, 0 no change, 1 white.
    public static func brightness(_ amount: Double) -> ImageTransform { .named(.brightness, amount) }
    /// - Parameter factor: 0 gives gray, 1 no change, 2 doubles the distance from gray.
    public static func contrast(_ factor: Double) -> ImageTransform { .named(.contrast, factor) }
    /// - Parameter factor: 0 gives gray, 1 no change, 2 doubles the saturation.
    public static func saturation(_ factor: Double) -> ImageTransform { .named(.saturation, factor) }
    /// Rotates hues around the gray axis.
    public static func hue(degrees: Double) -> ImageTransform { .named(.hue, degrees) }
    /// Inverts colours.
    public static var invert: ImageTransform { .named(.invert, 1) }
    /// - Parameter factor: the factor for alpha: 0 makes the picture invisible.
    public static func opacity(_ factor: Double) -> ImageTransform { .named(.opacity, factor) }

    /// Raises each colour component to a power.
    ///
    /// - Parameter gamma: the inverse of the power, from 0.01 to 100. Above 1 middle tones become brighter, below 1
    ///   darker.
    public static func gamma(_ gamma: Double) -> ImageTransform { .named(.gamma, gamma) }

    private static func named(_ kind: NamedColors.Kind, _ amount: Double) -> ImageTransform {
        ImageTransform(NamedColors(kind: kind, amount: amount))
    }
}

/// Changes colours by any matrix.
struct Colors: WrittenOperation, PlannedOperation {
    static let name = "matrix"
    static let usage = "matrix:N,N,... (20 numbers, row by row)"

    let matrix: ColorMatrix

    init(matrix: ColorMatrix) { self.matrix = matrix }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let argument = try arguments.next("20 numbers")
        let numbers = try argument.numbers([20], in: -1000...1000, "a matrix")
        guard let matrix = ColorMatrix(numbers.map { Float($0) }) else {
            throw argument.fails("a matrix must have 20 numbers")
        }
        self.matrix = matrix
    }

    var text: String {
        TransformText(Self.name).add(matrix.values.map { Self.text($0) }.joined(separator: ",")).text
    }

    private static func text(_ value: Float) -> String {
        value == value.rounded() && value.magnitude < 1e7 ? String(Int(value)) : String(value)
    }

    func compile(into builder: inout ProgramBuilder) {
        builder.point(MatrixOperation(matrix: matrix), isOpaque: matrix.changesAlpha ? false : nil)
    }
}

/// Changes colours by one of the named matrices, or by a power.
struct NamedColors: PlannedOperation {
    enum Kind: String, CaseIterable {
        case gray, sepia, brightness, contrast, saturation, hue, invert, opacity, gamma

        var amounts: ClosedRange<Double> {
            switch self {
            case .gray, .sepia, .opacity, .invert: 0...1
            case .brightness: -1...1
            case .contrast, .saturation: 0...100
            case .hue: -36_000...36_000
            case .gamma: 0.01...100
            }
        }

        /// The default amount; nil if it must be given.
        var standard: Double? { [.gray, .sepia, .invert].contains(self) ? 1 : nil }
    }

    let kind: Kind
    let amount: Double

    var text: String {
        let text = TransformText(kind.rawValue)
        return amount == kind.standard ? text.text : text.add(amount).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let amount = try checked(amount, in: kind.amounts, kind.rawValue)
        switch kind {
        case .gamma: builder.point(PowerOperation(power: Float(1 / amount)))
        case .opacity: builder.point(MatrixOperation(matrix: .opacity(amount)), isOpaque: amount < 1 ? false : nil)
        default: builder.point(MatrixOperation(matrix: kind.matrix(amount)))
        }
    }
}

extension NamedColors.Kind {
    fileprivate func matrix(_ amount: Double) -> ColorMatrix {
        switch self {
        case .gray: .gray(amount)
        case .sepia: .sepia(amount)
        case .brightness: .brightness(amount)
        case .contrast: .contrast(amount)
        case .saturation: .saturation(amount)
        case .hue: .hue(degrees: amount)
        case .invert: .inverted
        case .opacity: .opacity(amount)
        case .gamma: .identity
        }
    }
}

extension TransformSyntax {
    /// The syntax of one kind.
    init(_ kind: NamedColors.Kind) {
        let name = kind.rawValue
        let usage = kind == .invert ? name : name + (kind.standard == nil ? ":AMOUNT" : "[:AMOUNT]")
        self.init(name: name, usage: usage) { (arguments) throws(TransformSyntaxError) in
            let given =
                switch kind {
                case .invert: TransformArguments.Argument?.none
                case .gray, .sepia: arguments.nextIfAny()
                default: try arguments.next("an amount")
                }
            let amount = try given?.number(in: kind.amounts, name) ?? 1
            return NamedColors(kind: kind, amount: amount)
        }
    }
}
