import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

/// Only the rows of a canvas that the next stage needs are made, and rows that no stage needs any more are not kept.
///
/// All rows after the last one of a crop were once kept, and moved for each new row: a crop of a large canvas took
/// seconds.
@Suite struct CanvasRowsTests {
    /// An output that records which rows it receives.
    private final class Counter: RowOutput {
        let width: Int
        private let memory: RowScratch
        private(set) var rows: [Int] = []

        init(width: Int) throws(WebImageError) {
            self.width = width
            memory = try RowScratch(width: width)
        }

        func row(_ index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(memory.floats) }
        func commit(_ index: Int) { rows.append(index) }
    }

    private static func crop(_ width: Int, _ height: Int, atRow top: Int) -> CopyStage {
        CopyStage(bytesPerPixel: 16, left: 0, top: top, width: width, rows: 0..<height)
    }

    private static func feed(_ output: any RowOutput, _ rows: Range<Int>, width: Int) throws {
        for row in rows {
            try output.row(row).initializeMemory(as: UInt8.self, repeating: 0, count: width * 16)
            try output.commit(row)
        }
    }

    @Test func aStageThatIsDoneKeepsNoRows() throws {
        let counter = try Counter(width: 10)
        let input = StageInput(
            Self.crop(10, 100, atRow: 0), size: PixelSize(10, 5000), bytesPerPixel: 16, next: counter)
        try Self.feed(input, 0..<5000, width: 10)
        #expect(counter.rows == Array(0..<100))
        #expect(input.window.capacity <= 64)
    }

    /// A window with room for exactly the rows that are kept would move all of them for each new row.
    @Test(arguments: [1, 16, 40, 200]) func aWindowSeldomMovesItsRows(reach: Int) throws {
        let window = RowWindow(bytesPerRow: 8, height: 5000)
        var (moved, base) = (0, 0)
        for row in 0..<5000 {
            let place = try window.band(at: row, count: 1, keepingFrom: max(row - reach, 0))
            place.storeBytes(of: row, as: Int.self)
            if window.rows.first != base {
                moved += row - window.rows.first
                base = window.rows.first
            }
            for kept in max(row - reach, 0)...row { #expect(window.rows.address(of: kept).load(as: Int.self) == kept) }
        }
        #expect(moved <= 4 * 5000)
        #expect(window.capacity <= max(32, 2 * (reach + 1)))
    }

    @Test(arguments: [
        "extend:100x5000|crop:100x100+0+0", "extend:100x5000|crop:100x100+0+4900", "extend:100x5000|crop:9x100+3+2450",
        "pad:500|crop:300x300:at=top", "extend:100x2000|resize:90x30:cover:at=top|sharpen:1",
        "extend:100x900|pad:5,5,900,5|crop:50x60+0+0|blur:2", "blur:1|extend:100x900:at=bottom|crop:100x60+0+0|pad:3",
        "contrast:1.2|extend:100x5000|contrast:1.1|crop:100x70+0+2480",
    ])
    func aPartOfACanvasIsThatOfTheWholeOne(_ text: String) throws {
        for alpha in [AlphaMode.opaque, .straight] {
            let pixels = try PixelBuffer.random(PixelSize(40, 31), .rgba16, alpha: alpha, seed: 9)
            let image = Image(pixels: pixels, info: Image.Info(alpha: alpha))
            let chain = try ImageTransform.parse(text)
            let single = try chain.reduce(image) { try $0.transformed(by: [$1]) }
            let whole = try image.transformed(by: chain)
            #expect(whole.size == single.size)
            #expect(TransformReferenceTests.share(of: whole, beyond: 257, from: Blackboard(single)) == 0)
        }
    }

    @Test(arguments: [
        ("extend:100x5000|crop:100x100+0+0", 0..<100), ("extend:100x5000|crop:100x100+0+4900", 4900..<5000),
        ("extend:100x5000:at=top|resize:50x50:cover:at=top", 0..<100),
    ])
    func onlyTheNeededRowsOfACanvasAreMade(_ text: String, _ rows: Range<Int>) throws {
        let program = try TransformProgram(
            try ImageTransform.parse(text), size: PixelSize(40, 30), isOpaque: true)
        guard case .pass(let pass, _) = try #require(program.parts.first) else { return #expect(Bool(false)) }
        let made = try #require(pass.bands(nil).first).rows[0]
        // A filter reads some rows beyond its part.
        #expect(made.lowerBound >= rows.lowerBound - 8 && made.upperBound <= rows.upperBound + 8, "\(made)")
    }

    /// The picture lies before, within and after the part of the canvas that is made.
    @Test(arguments: [(0, 50..<60), (52, 50..<60), (48, 50..<53), (90, 50..<60)])
    func aCanvasMakesTheRowsOfItsPart(_ top: Int, _ rows: Range<Int>) throws {
        let plan = CanvasPlan(picture: PixelSize(4, 5), canvas: PixelSize(10, 100), x: 2, y: top, color: .zero)
        let counter = try Counter(width: 10)
        let output = try CanvasOutput(plan, rows: rows, next: counter)
        let inputs = plan.inputRows(for: rows)
        #expect(inputs.count <= 5 && !inputs.isEmpty)
        try Self.feed(output, inputs, width: 4)
        #expect(counter.rows == Array(rows))
    }
}
