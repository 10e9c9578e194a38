public import WebImageCore

/// One step that changes a picture, as a value with all its parameters.
///
///     request.transformers = [.crop(.square), .blur(sigma: 4), .roundCorners(24)]
///
/// Each transform has a text form, such as `blur:4`, for cache keys, the command line and URLs; see
/// ``parse(_:resources:)``. Two equal transforms make the same pixels from the same picture.
///
/// A load compiles consecutive transforms into one program. Crops and resizes at the beginning are part of the
/// decoding: for a small result the picture is decoded small. The other transforms run together over a few rows at a
/// time, and round once at the end. Lengths are in pixels of the picture at that point of the chain.
public struct ImageTransform: ImageTransformer, Hashable, CustomStringConvertible {
    let operation: any TransformOperation
    /// The text form, which ``parse(_:resources:)`` parses to the same transform. The text of a closure is its
    /// identifier, and cannot be parsed.
    public let description: String
    public let key: String

    init(_ operation: any TransformOperation) {
        self.operation = operation
        description = operation.text
        key = operation.key
    }

    /// Whether the transform may crop by the content of the pixels.
    package var mayCutByPixels: Bool {
        (operation as? Trim)?.asImgproxy == false || (operation as? any GeometryOperation)?.needsPixels == true
    }

    /// Whether the transform calls a closure of the program that uses this library.
    package var callsClosure: Bool {
        operation is CustomPicture || operation is CustomPixels || operation is CustomNeighbors
    }

    public static func == (one: Self, other: Self) -> Bool { one.key == other.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    public func transform(_ image: Image) throws(WebImageError) -> Image { try image.transformed(by: [self]) }
}

/// The implementation of an ``ImageTransform``.
protocol TransformOperation: Sendable {
    /// The text of the operation in the grammar of transforms.
    var text: String { get }
    /// The identity of the operation. Default: the text.
    var key: String { get }

    /// Adds the operation's work to the builder, for a picture of the builder's current size.
    ///
    /// - Parameter rest: the following transforms.
    /// - Returns: nil; or, if pixels determine the size of the result, a program that includes the rest.
    /// - Throws: `transformFailed` for invalid numbers, `limitExceeded`.
    func compile(
        into builder: inout ProgramBuilder, before rest: ArraySlice<ImageTransform>
    ) throws(WebImageError) -> TransformProgram?
}

extension TransformOperation {
    var key: String { text }
}

/// An operation that only selects a part of the picture, its size and its orientation. Such operations at the beginning
/// of a chain are carried out during decoding.
protocol GeometryOperation: PlannedOperation {
    /// Whether the operation may scale. The combined operations scale only once.
    var scales: Bool { get }
    /// Whether this instance reads or changes pixels, and so is not pure geometry.
    var needsPixels: Bool { get }

    /// Whether the operation first scales the picture, as a part of decoding, and then reads its pixels. The decoded
    /// picture is then of no use to other operations. Default false.
    var scalesFirst: Bool { get }
    /// Folds the scaling that precedes reading the pixels, if ``scalesFirst``. The operation must recognise the scaled
    /// picture when it is compiled.
    func foldScaling(into fold: inout GeometryFold) throws(WebImageError)

    /// Adds the operation to the combined geometry.
    ///
    /// - Throws: `transformFailed` if the operation cannot be applied to a picture of that size.
    func fold(into fold: inout GeometryFold) throws(WebImageError)
}

extension GeometryOperation {
    var scales: Bool { false }
    var needsPixels: Bool { false }
    var scalesFirst: Bool { false }
    func foldScaling(into fold: inout GeometryFold) {}

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) { try builder.geometry(self) }
}

/// An operation whose result has a size that is known in advance, as nearly all have.
protocol PlannedOperation: TransformOperation {
    func compile(into builder: inout ProgramBuilder) throws(WebImageError)
}

extension PlannedOperation {
    func compile(
        into builder: inout ProgramBuilder, before rest: ArraySlice<ImageTransform>
    ) throws(WebImageError) -> TransformProgram? {
        try compile(into: &builder)
        return nil
    }
}

extension WebImageError {
    /// The error for an invalid number of a transform.
    static func badTransform(_ message: String) -> WebImageError { WebImageError(.transformFailed, message) }
}

/// Checks a number of a transform.
///
/// - Throws: `transformFailed` when it is not finite, or out of range.
func checked(_ value: Double, in range: ClosedRange<Double>, _ name: String) throws(WebImageError) -> Double {
    guard value.isFinite, range.contains(value) else {
        throw .badTransform("\(name) must be from \(range.lowerBound.shortText) to \(range.upperBound.shortText)")
    }
    return value
}

extension Double {
    /// The shortest text of the number: `8`, not `8.0`.
    var shortText: String {
        if self == rounded(), magnitude < 1e15 { return String(Int(self)) }
        return String(self)
    }
}
