import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Fifty cells in ten thousand random steps: they are bound, bound again, recycled, deallocated, hidden and resized,
/// under memory pressure, with answers that come late and in any order. A cell shows only the picture that it was asked
/// for last, or one that it was told to keep, and no load is left at the end.
@MainActor @Suite struct SlotWalkTests {
    @Test(arguments: 0..<10) func noCellEverShowsAnothersPicture(seed: UInt64) throws {
        try SlotWalk(seed: seed).run(steps: 1000)
    }
}

@MainActor private final class SlotWalk {
    @MainActor private final class Cell {
        let target = HeadlessTarget()
        let slots: ImageSlots
        /// The picture that each slot was asked for last.
        var wanted: [SlotName: Int] = [:]
        /// The pictures that a slot may still show, because it was told to keep them when it was asked for another.
        var mayKeep: [SlotName: Set<Int>] = [:]

        init(_ bench: SlotBench) { slots = bench.slots(of: target) }
    }

    private static let pictures = 40
    private static let names: [SlotName] = [.image, .highlighted]
    private let bench = SlotBench()
    private var random: SeededGenerator
    private var cells: [Cell] = []
    private var gates: [Gate] = []
    private var calls = 0
    private var answers = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed &+ 1)
        for number in 1...Self.pictures {
            let gate = Gate()
            gates.append(gate)
            let good = FakeAnswer.bytes(try Fixture.png(number, 3), contentType: "image/png")
            let answer = [good, good, good, .status(404), good.failing(after: 40)][random.below(5)]
            bench.transport.answer(
                SlotBench.url(number), random.below(3) == 0 ? answer : answer.held(by: gate, after: random.below(60)))
        }
        cells = (0..<50).map { _ in Cell(bench) }
    }

    func run(steps: Int) throws {
        for _ in 0..<steps {
            step()
            check()
        }
        for gate in gates { gate.open() }
        for cell in cells {
            cell.slots.isVisible = true
            cell.slots.resize(to: PixelSize(width: 64, height: 64))
        }
        bench.settle()
        check()
        for cell in cells {
            for (name, number) in cell.wanted {
                #expect(!cell.slots[name].state.isLoading)
                if case .loaded = cell.slots[name].state.phase { #expect(cell.target.shown[name] == .picture(number)) }
            }
        }
        cells = []
        bench.settle()
        #expect(answers == calls, "each call has one answer")
        #expect(bench.transport.running == 0 && bench.manager.runningLoads == 0)
    }

    private func step() {
        let cell = cells[random.below(cells.count)]
        switch random.below(24) {
        case 0..<8: bind(cell)
        case 8: cell.slots.cancel()
        case 9: clear(cell)
        case 10: cells[random.below(cells.count)] = Cell(bench)
        case 11: cell.slots.isVisible.toggle()
        case 12: cell.slots.resize(to: PixelSize(width: 1 + random.below(50), height: 1 + random.below(50)))
        case 13: bench.manager.memoryCache.trim(for: [.low, .medium, .critical][random.below(3)])
        case 14: gates[random.below(gates.count)].open()
        case 15: cell.slots[Self.names[random.below(2)]].reload { [self] _ in answers += 1 }; calls += 1
        case 16..<20: for _ in 0..<random.below(6) { _ = bench.executor.runOne { random.below($0) } }
        default: for _ in 0..<random.below(4) { bench.loop.turn { random.below($0) } }
        }
    }

    private func bind(_ cell: Cell) {
        let (name, number) = (Self.names[random.below(2)], 1 + random.below(Self.pictures))
        var options = SlotOptions()
        options.keepsCurrentImage = random.below(4) == 0
        options.keepsEqualLoad = random.below(2) == 0
        options.cancelsPrevious = random.below(4) > 0
        options.whenHidden = SlotOptions.HiddenLoads.allCases[random.below(3)]
        if random.below(3) == 0 { options.transition = .fade() }
        options.waitsForTransition = random.below(2) == 0
        if options.keepsCurrentImage, case .picture(let old)? = cell.target.shown[name] {
            cell.mayKeep[name, default: []].insert(old)
        } else if cell.wanted[name] != number || !options.keepsEqualLoad {
            cell.mayKeep[name] = []
        }
        cell.wanted[name] = number
        calls += 1
        var (isOver, hasTwo) = (false, false)
        cell.slots[name].load(bench.request(number), options: options) { [self] _ in
            answers += 1
            hasTwo = isOver
            isOver = true
            #expect(!hasTwo)
        }
    }

    private func clear(_ cell: Cell) {
        cell.slots.clear()
        cell.wanted = [:]
        cell.mayKeep = [:]
    }

    private func check() {
        for cell in cells {
            for (name, shown) in cell.target.shown {
                guard case .picture(let number) = shown else { continue }
                let isRight = number == cell.wanted[name] || cell.mayKeep[name]?.contains(number) == true
                #expect(isRight, "slot \(name) shows \(number), and was asked for \(cell.wanted[name] ?? 0)")
            }
        }
    }
}
