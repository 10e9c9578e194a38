public import WebImageCore

/// Finds the resources that the text of a chain names: pictures to draw, and colour cubes.
public struct TransformResources: Sendable {
    /// - Throws: a ``/WebImageCore/WebImageError`` if there is no such picture.
    public var image: @Sendable (_ name: String) throws(WebImageError) -> Image
    /// - Throws: a ``/WebImageCore/WebImageError`` if there is no such cube.
    public var cube: @Sendable (_ name: String) throws(WebImageError) -> ColorCube

    public init(
        image: @escaping @Sendable (_ name: String) throws(WebImageError) -> Image,
        cube: @escaping @Sendable (_ name: String) throws(WebImageError) -> ColorCube
    ) {
        self.image = image
        self.cube = cube
    }

    /// No resources.
    public static let none = TransformResources(
        image: { name throws(WebImageError) in throw WebImageError(.fileNotFound, "there is no picture \(name)") },
        cube: { name throws(WebImageError) in throw WebImageError(.fileNotFound, "there is no colour cube \(name)") })
}

extension ImageTransform {
    /// Parses a chain of transforms: steps that are separated by `|`, each with a name and arguments that are separated
    /// by `:`.
    ///
    ///     let chain = try ImageTransform.parse("resize:320x200:cover|blur:8|round:24")
    ///
    /// Spaces around a step are ignored. The texts of the returned transforms, joined by `|`, parse to the same chain.
    ///
    /// - Parameters:
    ///   - text: the text of the chain; an empty text has no transforms.
    ///   - resources: finds the pictures and colour cubes that the text names. Default: there are none.
    /// - Throws: ``TransformSyntaxError``, which says what is wrong and where.
    public static func parse(
        _ text: String, resources: TransformResources = .none
    ) throws(TransformSyntaxError) -> [ImageTransform] {
        if text.isEmpty { return [] }
        var transforms: [ImageTransform] = []
        for step in text.split(separator: "|", omittingEmptySubsequences: false) {
            transforms.append(try parse(step: step.withoutSpacesAround, in: text, resources))
        }
        return transforms
    }

    /// The text of a chain, which ``parse(_:resources:)`` reads.
    public static func text(of transforms: [ImageTransform]) -> String {
        transforms.map(\.description).joined(separator: "|")
    }

    /// The text forms of all steps with their arguments, sorted by name.
    public static var usages: [String] { TransformSyntax.all.map(\.usage).sorted() }

    private static func parse(
        step: Substring, in text: String, _ resources: TransformResources
    ) throws(TransformSyntaxError) -> ImageTransform {
        let name = step.prefix { $0 != ":" }
        guard let syntax = TransformSyntax.all.first(where: { $0.name == name }) else {
            let start = text.utf8.distance(from: text.startIndex, to: step.startIndex)
            let names = TransformSyntax.all.map(\.name).sorted().joined(separator: ", ")
            let message =
                name.isEmpty ? "a step is missing here" : "there is no transform \"\(name)\"; there are \(names)"
            throw TransformSyntaxError(message, in: text, at: start..<start + name.utf8.count)
        }
        var arguments = TransformArguments(step, in: text, usage: syntax.usage, resources: resources)
        let operation = try syntax.make(&arguments)
        try arguments.checkEnd()
        return ImageTransform(operation)
    }
}

extension Substring {
    fileprivate var withoutSpacesAround: Substring {
        var rest = drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}
