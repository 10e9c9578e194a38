import CPixels
import WebImageCore

/// Receives rows one by one, and lets a stage process them. The stage's output goes to `next`.
final class StageInput: RowOutput {
    let window: RowWindow
    private let stage: any ResampleStage
    private let next: any RowOutput

    /// - Parameter size: the width and the number of the incoming rows.
    init(_ stage: any ResampleStage, size: PixelSize, bytesPerPixel: Int, next: any RowOutput) {
        window = RowWindow(bytesPerRow: size.width * bytesPerPixel, height: size.height)
        self.stage = stage
        self.next = next
    }

    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        try window.band(at: index, count: 1, keepingFrom: stage.firstRowNeeded)
    }

    func commit(_ index: Int) throws(WebImageError) {
        try stage.advance(window.rows, available: index + 1, into: next)
    }
}

/// Receives the rows of a pass's result. A checkpoint may end the pass.
final class PassOutput: RowOutput {
    let pixels: PixelBuffer
    let checkpoint: TransformProgram.Checkpoint?

    init(_ pixels: PixelBuffer, _ checkpoint: TransformProgram.Checkpoint?) {
        self.pixels = pixels
        self.checkpoint = checkpoint
    }

    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        try checkpoint?()
        return pixels.row(index)
    }

    func commit(_ index: Int) {}
}

/// Memory for one row of floats, which each user overwrites.
final class RowScratch {
    let floats: UnsafeMutablePointer<Float>
    private let memory: AlignedMemory

    /// - Throws: `limitExceeded` without memory.
    init(width: Int) throws(WebImageError) {
        memory = try AlignedMemory(byteCount: width * 16)
        floats = memory.base.bindMemory(to: Float.self, capacity: width * 4)
    }

    deinit { memory.deallocate() }
}

/// The planes of a run: floats of red, green, blue and alpha, ``PixelRun/length`` of each.
typealias PixelPlanes = OpaquePointer

/// One run of pixels, a plane for each channel.
final class PixelRun {
    static let length = Int(WI_RUN_PIXELS)
    fileprivate static let byteCount = length * 16

    let planes: PixelPlanes
    private let memory: UnsafeMutableRawPointer

    init() {
        memory = .allocate(byteCount: Self.byteCount, alignment: 32)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
        planes = PixelPlanes(memory)
    }

    deinit { memory.deallocate() }

    /// Loads `count` pixels of a row.
    func load(_ row: UnsafeRawPointer, x: Int, count: Int, _ samples: RowSamples) {
        let alpha: wi_run_alpha =
            switch samples.alpha {
            case .opaque: WI_RUN_OPAQUE
            case .straight: WI_RUN_STRAIGHT
            case .premultiplied: WI_RUN_PREMULTIPLIED
            }
        switch samples.kind {
        case .eight: wi_load_run_8(planes, row.assumingMemoryBound(to: UInt8.self) + 4 * x, count, alpha)
        case .sixteen: wi_load_run_16(planes, row.assumingMemoryBound(to: UInt16.self) + 4 * x, count, alpha)
        case .floats: wi_load_run_float(planes, row.assumingMemoryBound(to: Float.self) + 4 * x, count, alpha)
        }
    }

    /// Stores `count` pixels of a row: straight integers, or premultiplied floats.
    func store(_ row: UnsafeMutableRawPointer, x: Int, count: Int, _ kind: RowSamples.Kind) {
        switch kind {
        case .eight: wi_store_run_8(row.assumingMemoryBound(to: UInt8.self) + 4 * x, planes, count)
        case .sixteen: wi_store_run_16(row.assumingMemoryBound(to: UInt16.self) + 4 * x, planes, count)
        case .floats: wi_store_run_float(row.assumingMemoryBound(to: Float.self) + 4 * x, planes, count)
        }
    }
}

/// Applies consecutive operations on single pixels, run by run, so that each run stays in the first-level cache.
final class PointRunner {
    private let operations: [any PointOperation]
    /// The operations for bytes; nil if some operations depend on alpha or position.
    private let byteColors: ByteColors?
    private let run = PixelRun()
    private let width: Int

    init(_ operations: [any PointOperation], width: Int) {
        self.operations = ColorSteps.gathering(operations)
        let only = self.operations.count == 1 ? self.operations.first as? ColorSteps : nil
        byteColors = only.map { ByteColors($0) }
        self.width = width
    }

    /// Whether anything changes in a row.
    func changes(row: Int) -> Bool { operations.contains { $0.changes(x: 0, y: row, count: width) } }

    /// `source` and `target` may be the same row.
    func apply(
        y: Int, from source: UnsafeRawPointer, _ samples: RowSamples, to target: UnsafeMutableRawPointer,
        _ kind: RowSamples.Kind
    ) {
        if let byteColors, samples.kind == .eight, kind == .eight, samples.alpha != .premultiplied {
            return byteColors.apply(from: source, to: target, count: width, isOpaque: samples.alpha == .opaque)
        }
        for x in stride(from: 0, to: width, by: PixelRun.length) {
            let count = min(PixelRun.length, width - x)
            var isLoaded = false
            for operation in operations where operation.changes(x: x, y: y, count: count) {
                if !isLoaded { run.load(source, x: x, count: count, samples) }
                isLoaded = true
                operation.apply(to: run.planes, x: x, y: y, count: count)
            }
            if isLoaded {
                run.store(target, x: x, count: count, kind)
            } else if samples.kind == kind, kind == .floats || samples.alpha != .premultiplied {
                let place = x * samples.bytesPerPixel
                if source != UnsafeRawPointer(target) {
                    (target + place).copyMemory(from: source + place, byteCount: count * samples.bytesPerPixel)
                }
            } else {
                run.load(source, x: x, count: count, samples)
                run.store(target, x: x, count: count, kind)
            }
        }
    }
}

/// Changes rows of floats pixel by pixel before they reach `next`, in the memory of `next` or while they are stored.
final class PointOutput: RowOutput {
    private let runner: PointRunner
    private let input: RowSamples
    private let output: RowSamples
    private let next: any RowOutput
    /// Memory for a row of floats; nil if a row of `next` has the same size.
    private let scratch: RowScratch?
    private var row: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - input: the format of the incoming rows: floats, with the alpha that they have at this point.
    ///   - output: the format that `next` takes.
    init(
        _ operations: [any PointOperation], width: Int, from input: RowSamples, to output: RowSamples,
        next: any RowOutput
    ) throws(WebImageError) {
        runner = PointRunner(operations, width: width)
        self.input = input
        self.output = output
        self.next = next
        scratch = output.kind == .floats ? nil : try RowScratch(width: width)
    }

    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        if let scratch { return UnsafeMutableRawPointer(scratch.floats) }
        let row = try next.row(index)
        self.row = row
        return row
    }

    func commit(_ index: Int) throws(WebImageError) {
        if let scratch {
            runner.apply(y: index, from: scratch.floats, input, to: try next.row(index), output.kind)
        } else if let row {
            runner.apply(y: index, from: row, input, to: row, output.kind)
        }
        try next.commit(index)
    }
}

/// Places rows on a larger canvas.
final class CanvasOutput: RowOutput {
    private let plan: CanvasPlan
    private let next: any RowOutput
    /// The rows of the canvas to make.
    private let rows: Range<Int>
    /// The rows of the picture that will arrive.
    private let inputs: Range<Int>
    /// The first row of the canvas that is not complete.
    private var nextRow: Int
    /// Memory for a row of the picture that no row of the canvas needs.
    private let unseen: RowScratch?

    /// - Parameter rows: the rows of the canvas that are made.
    /// - Throws: `limitExceeded` without memory.
    init(_ plan: CanvasPlan, rows: Range<Int>, next: any RowOutput) throws(WebImageError) {
        self.plan = plan
        self.next = next
        self.rows = rows
        inputs = plan.inputRows(for: rows)
        nextRow = rows.lowerBound
        unseen = rows.contains(inputs.lowerBound + plan.y) ? nil : try RowScratch(width: plan.picture.width)
    }

    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        if let unseen { return UnsafeMutableRawPointer(unseen.floats) }
        try fill(before: index + plan.y)
        return try next.row(index + plan.y) + plan.x * 16
    }

    func commit(_ index: Int) throws(WebImageError) {
        if unseen == nil {
            let row = try next.row(index + plan.y).assumingMemoryBound(to: SIMD4<Float>.self)
            row.update(repeating: plan.color, count: plan.x)
            let right = plan.x + plan.picture.width
            (row + right).update(repeating: plan.color, count: plan.canvas.width - right)
            try next.commit(index + plan.y)
            nextRow += 1
        }
        if index + 1 == inputs.upperBound { try fill(before: rows.upperBound) }
    }

    private func fill(before end: Int) throws(WebImageError) {
        while nextRow < end {
            let row = try next.row(nextRow).assumingMemoryBound(to: SIMD4<Float>.self)
            row.update(repeating: plan.color, count: plan.canvas.width)
            try next.commit(nextRow)
            nextRow += 1
        }
    }
}

/// The position of a picture on a canvas.
struct CanvasPlan: Sendable, Hashable {
    let picture: PixelSize
    let canvas: PixelSize
    /// The position of the picture; not negative. The canvas contains the picture completely.
    let x: Int
    let y: Int
    /// The colour of the canvas, premultiplied.
    let color: SIMD4<Float>

    /// The rows of the picture that these rows of the canvas need. There is at least one, because the arrival of a row
    /// starts the margins.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let first = min(max(rows.lowerBound - y, 0), picture.height - 1)
        return first..<max(min(rows.upperBound - y, picture.height), first + 1)
    }
}
