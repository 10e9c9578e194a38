import CPixels
public import WebImageCore

/// A run of pixels in one row, which a closure changes. Components go from 0 to 1, and are not multiplied by alpha. The
/// components of invisible pixels are 0.
///
/// It is valid only while the closure runs.
public struct PixelStretch {
    /// The position of the first pixel in the picture.
    public let x: Int
    public let y: Int
    public let count: Int
    private let run: PixelPlanes

    init(_ run: PixelPlanes, x: Int, y: Int, count: Int) {
        self.run = run
        self.x = x
        self.y = y
        self.count = count
    }

    /// Red, green, blue and alpha of a pixel.
    ///
    /// - Precondition: `index` is from 0 to before ``count``.
    public subscript(index: Int) -> SIMD4<Float> {
        get {
            precondition(index >= 0 && index < count, "a pixel outside of its stretch")
            return SIMD4(
                PixelRun.plane(0, of: run)[index], PixelRun.plane(1, of: run)[index],
                PixelRun.plane(2, of: run)[index], PixelRun.plane(3, of: run)[index])
        }
        nonmutating set {
            precondition(index >= 0 && index < count, "a pixel outside of its stretch")
            // As at the end of a pass, so that the result does not depend on what follows.
            let color = newValue.finite.clamped(
                lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 1))
            for plane in 0..<4 { PixelRun.plane(plane, of: run)[index] = color[plane] }
        }
    }
}

extension SIMD4<Float> {
    /// Replaces NaN, from a division by zero in a closure, by zero, and limits the values to a finite range.
    fileprivate var finite: SIMD4 {
        replacing(with: 0, where: self .!= self).clamped(
            lowerBound: SIMD4(repeating: -1e6), upperBound: SIMD4(repeating: 1e6))
    }
}

/// A pixel and the pixels around it, from which a closure computes a new pixel. Components go from 0 to 1, and are
/// multiplied by alpha, so that transparent pixels have no weight. Beyond the edges of the picture the edge pixels are
/// repeated.
///
/// It is valid only while the closure runs.
public struct PixelNeighborhood {
    /// The position of the central pixel.
    public fileprivate(set) var x = 0
    public fileprivate(set) var y = 0
    fileprivate let rows: UnsafePointer<UnsafePointer<SIMD4<Float>>>
    fileprivate let reach: Int
    fileprivate let width: Int

    /// The pixel at an offset to the right and below.
    ///
    /// - Precondition: neither offset is larger than the reach, in either direction.
    public subscript(dx: Int, dy: Int) -> SIMD4<Float> {
        precondition(abs(dx) <= reach && abs(dy) <= reach, "a pixel beyond the reach")
        return rows[dy + reach][min(max(x + dx, 0), width - 1)]
    }
}

extension ImageTransformer where Self == ImageTransform {
    /// Changes the whole picture with a closure.
    ///
    /// - Parameters:
    ///   - id: contains everything that the result depends on, including every parameter: closures with the same
    ///     identifier must make the same pixels.
    ///   - change: gets the upright picture at that point of the chain. Called on the decode executor, by several
    ///     threads at once.
    public static func custom(
        id: String, _ change: @escaping @Sendable (Image) throws(WebImageError) -> Image
    ) -> ImageTransform { ImageTransform(CustomPicture(id: id, change: change)) }

    /// Changes pixels with a closure that sees single pixels. It shares its pass with other transforms.
    ///
    /// - Parameters:
    ///   - id: contains everything that the result depends on, including every parameter.
    ///   - keepsOpaque: whether an opaque picture stays opaque: the closure's alpha is then ignored. Default true.
    ///   - change: changes the pixels. Called for runs of at most 256 pixels, by several threads at once.
    public static func customPixels(
        id: String, keepsOpaque: Bool = true, _ change: @escaping @Sendable (PixelStretch) -> Void
    ) -> ImageTransform { ImageTransform(CustomPixels(id: id, keepsOpaque: keepsOpaque, change: change)) }

    /// Computes each pixel from the pixels around it with a closure. A few rows are kept in memory for it, not the
    /// whole picture.
    ///
    /// - Parameters:
    ///   - id: contains everything that the result depends on, including every parameter.
    ///   - reach: the distance of the farthest pixel that the closure reads, in rows and columns, at most 256.
    ///   - make: returns a pixel, multiplied by its alpha, which is ignored for an opaque picture: that stays opaque.
    ///     Called for each pixel, by several threads at once.
    public static func customNeighbors(
        id: String, reach: Int, _ make: @escaping @Sendable (PixelNeighborhood) -> SIMD4<Float>
    ) -> ImageTransform { ImageTransform(CustomNeighbors(id: id, reach: reach, make: make)) }
}

struct CustomPicture: TransformOperation {
    let id: String
    let change: @Sendable (Image) throws(WebImageError) -> Image

    var text: String { TransformText("custom").add(fileNamed: id).text }

    func compile(
        into builder: inout ProgramBuilder, before rest: ArraySlice<ImageTransform>
    ) throws(WebImageError) -> TransformProgram? { builder.whole(CustomPictureWork(change: change), then: rest) }
}

private struct CustomPictureWork: WholeOperation {
    let takesDeepPixels = false
    let change: @Sendable (Image) throws(WebImageError) -> Image

    func apply(
        _ image: Image, to layout: PixelLayout, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) -> Image {
        try change(image).upright()
    }
}

struct CustomPixels: PlannedOperation, PointOperation {
    let id: String
    let keepsOpaque: Bool
    let change: @Sendable (PixelStretch) -> Void
    /// Unknown, because a closure is called; assumed to be true.
    let takesLong = true

    var text: String { TransformText("custom-pixels").add(fileNamed: id).add("translucent", if: !keepsOpaque).text }

    /// Whether the picture is opaque, and stays so whatever the closure does.
    private var fillsAlpha = false

    init(id: String, keepsOpaque: Bool, change: @escaping @Sendable (PixelStretch) -> Void) {
        (self.id, self.keepsOpaque, self.change) = (id, keepsOpaque, change)
    }

    func compile(into builder: inout ProgramBuilder) {
        var own = self
        own.fillsAlpha = keepsOpaque && builder.isOpaque
        builder.point(own, isOpaque: keepsOpaque ? nil : false)
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        wi_run_blacken_invisible(run, count)
        change(PixelStretch(run, x: x, y: y, count: count))
        if fillsAlpha { PixelRun.plane(3, of: run).update(repeating: 1, count: count) }
    }
}

struct CustomNeighbors: PlannedOperation {
    let id: String
    let reach: Int
    let make: @Sendable (PixelNeighborhood) -> SIMD4<Float>
    /// Whether the pictures are opaque, so that the closure's alpha is ignored.
    private(set) var fillsAlpha = false

    init(id: String, reach: Int, make: @escaping @Sendable (PixelNeighborhood) -> SIMD4<Float>) {
        (self.id, self.reach, self.make) = (id, reach, make)
    }

    var text: String { TransformText("custom-neighbors").add(Double(reach)).add(fileNamed: id).text }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        guard (0...256).contains(reach) else {
            throw .badTransform("the reach of a closure must be from 0 to 256 pixels")
        }
        var own = self
        own.fillsAlpha = builder.isOpaque
        builder.neighbors(own)
    }
}

/// Makes each row from the rows around it.
final class NeighborStage: ResampleStage {
    private let operation: CustomNeighbors
    private let size: PixelSize
    private let end: Int
    private(set) var rowsDone: Int

    /// - Parameter rows: the rows that are made.
    init(_ operation: CustomNeighbors, size: PixelSize, rows: Range<Int>) {
        self.operation = operation
        self.size = size
        (rowsDone, end) = (rows.lowerBound, rows.upperBound)
    }

    var firstRowNeeded: Int { rowsDone < end ? max(rowsDone - operation.reach, 0) : .max }

    func advance(_ rows: HeldRows, available: Int, into result: any RowOutput) throws(WebImageError) {
        while rowsDone < end, min(rowsDone + operation.reach, size.height - 1) < available {
            let target = try result.row(rowsDone).assumingMemoryBound(to: SIMD4<Float>.self)
            make(rowsDone, of: rows, target)
            wi_clamp_row_float(UnsafeMutableRawPointer(target).assumingMemoryBound(to: Float.self), size.width, 1)
            try result.commit(rowsDone)
            rowsDone += 1
        }
    }

    private func make(_ row: Int, of rows: HeldRows, _ target: UnsafeMutablePointer<SIMD4<Float>>) {
        let reach = operation.reach
        withUnsafeTemporaryAllocation(of: UnsafePointer<SIMD4<Float>>.self, capacity: 2 * reach + 1) { around in
            for offset in -reach...reach {
                let place = min(max(row + offset, 0), size.height - 1)
                around.initializeElement(
                    at: offset + reach, to: rows.address(of: place).assumingMemoryBound(to: SIMD4<Float>.self))
            }
            guard let base = around.baseAddress else { return }
            var pixels = PixelNeighborhood(rows: base, reach: reach, width: size.width)
            pixels.y = row
            for x in 0..<size.width {
                pixels.x = x
                target[x] = operation.make(pixels).finite
                if operation.fillsAlpha { target[x].w = 1 }
            }
        }
    }
}
