import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// How a slot reacts to its target's size and visibility, and to the return of the network.
@MainActor @Suite struct SlotSizeAndVisibilityTests {
    private let bench = SlotBench()
    private let target = HeadlessTarget()

    private func fitting(_ change: (inout SlotOptions) -> Void = { _ in }) -> SlotOptions {
        var options = SlotOptions()
        options.fitsTarget = .contain
        change(&options)
        return options
    }

    private var pausing: SlotOptions {
        var options = SlotOptions()
        options.whenHidden = .paused
        return options
    }

    // MARK: - Size

    @Test func aLoadWaitsForItsTargetsSizeAndUsesIt() throws {
        try bench.answer(200, height: 100)
        let slots = bench.slots(of: target, fitting { $0.placeholder = Fixture.gradient(1000, 1) })
        slots.load(bench.request(200))
        bench.settle()
        #expect(target.log == ["placeholder(1000)"] && bench.transport.requests.isEmpty)
        #expect(slots[.image].state.phase.name == "waitingForSize")
        slots.resize(to: PixelSize(width: 0, height: 40))
        #expect(bench.transport.requests.isEmpty)
        slots.resize(width: 20, height: 20, scale: 2)
        bench.settle()
        #expect(target.shown[.image] == .picture(40))
        // A request with its own size keeps it.
        slots.load(ImageRequest(SlotBench.url(200), size: TargetSize(width: 10)), into: .background)
        bench.settle()
        #expect(target.shown[.background] == .picture(10))
    }

    @Test func aTargetThatGrowsGetsALargerPicture() throws {
        try bench.answer(200, height: 100)
        let indicator = NotingIndicator()
        let slots = bench.slots(
            of: target,
            fitting {
                $0.placeholder = Fixture.gradient(1000, 1)
                $0.transition = .fade()
                $0.indicator = indicator
            })
        slots.resize(to: PixelSize(width: 50, height: 50))
        var answers = 0
        slots[.image].load(bench.request(200)) { _ in answers += 1 }
        bench.settle()
        slots.resize(to: PixelSize(width: 30, height: 30))
        bench.settle()
        #expect(target.shown[.image] == .picture(50), "what is too large will do")
        slots.resize(to: PixelSize(width: 120, height: 60))
        bench.settle()
        #expect(target.shown[.image] == .picture(120))
        slots.resize(to: PixelSize(width: 900, height: 900))
        bench.settle()
        slots.resize(to: PixelSize(width: 1900, height: 1900))
        bench.settle()
        // The picture is no larger than the original, and the old picture stays until the larger one has come.
        #expect(
            target.log == ["placeholder(1000)", "transition", "picture(50)", "picture(120)", "picture(200)"])
        #expect(answers == 1 && indicator.log.filter { $0 == "start" }.count == 1)
        #expect(slots[.image].state.phase.name.hasPrefix("loaded"))
    }

    /// This is the case of a widget with a given width, which takes its height from its picture.
    @Test func anUnknownSideFollowsFromTheKnownOne() throws {
        try bench.answer(200, height: 100)
        let slots = bench.slots(of: target, fitting())
        slots.load(bench.request(200))
        slots.resize(toSides: PixelSize(width: 0, height: 0))
        #expect(slots[.image].state.phase.name == "waitingForSize")
        slots.resize(toSides: PixelSize(width: 50, height: 0))
        bench.settle()
        #expect(slots[.image].state.image?.size == PixelSize(width: 50, height: 25))
        slots.resize(toSides: PixelSize(width: 50, height: 25))
        bench.settle()
        #expect(target.log == ["nothing", "picture(50)"], "it is as high as its picture made it")
        slots.resize(toSides: PixelSize(width: 80, height: 40))
        bench.settle()
        #expect(target.shown[.image] == .picture(80))
    }

    /// The original has 200x100 pixels. A square area shows its middle; a flatter one shows more on both sides.
    @Test func aCoveredTargetThatGetsFlatterShowsWhatWasCutOff() throws {
        try bench.answer(200, height: 100)
        let slots = bench.slots(of: target, fitting { $0.fitsTarget = .cover })
        slots.resize(to: PixelSize(width: 100, height: 100))
        slots.load(bench.request(200))
        bench.settle()
        #expect(slots[.image].state.image?.size == PixelSize(width: 100, height: 100))
        for (label, area, picture) in [
            ("smaller", PixelSize(width: 50, height: 50), PixelSize(width: 100, height: 100)),
            ("narrower, which cuts off more", PixelSize(width: 25, height: 50), PixelSize(width: 100, height: 100)),
            ("as good as square", PixelSize(width: 51, height: 50), PixelSize(width: 100, height: 100)),
            ("flatter", PixelSize(width: 100, height: 50), PixelSize(width: 100, height: 50)),
            ("as high as all of the original", PixelSize(width: 60, height: 30), PixelSize(width: 100, height: 50)),
            (
                "flat, which cuts off above and below", PixelSize(width: 80, height: 20),
                PixelSize(width: 100, height: 50)
            ),
        ] {
            slots.resize(to: area)
            bench.settle()
            #expect(slots[.image].state.image?.size == picture, "\(label)")
        }
    }

    @Test func aTargetThatGrowsDuringALoadGetsALargerPictureAfterwards() throws {
        let gate = Gate()
        try bench.answer(200, height: 100, gate: gate)
        let slots = bench.slots(of: target, fitting())
        slots.resize(to: PixelSize(width: 20, height: 20))
        slots.load(bench.request(200))
        bench.settle()
        for side in 21..<80 { slots.resize(to: PixelSize(width: side, height: side)) }
        bench.settle()
        gate.open()
        bench.settle()
        #expect(target.log == ["nothing", "picture(20)", "picture(79)"])
    }

    // MARK: - Visibility

    @Test func aHiddenTargetLowersThePriorityOfItsLoad() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        let slots = bench.slots(of: target)
        var request = bench.request(5)
        request.priority = .high
        slots.load(request)
        bench.settle()
        let other = bench.manager.load(bench.request(5)) { _ in }
        defer { other.cancel() }
        #expect(bench.priority(of: 5) == .high)
        slots.isVisible = false
        #expect(bench.priority(of: 5) == .normal, "as the other caller's")
        slots.isVisible = true
        #expect(bench.priority(of: 5) == .high)
        gate.open()
        bench.settle()
        #expect(target.shown[.image] == .picture(5))
    }

    @Test func aLoadMayPauseWhileItsTargetIsHidden() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        var options = SlotOptions()
        options.whenHidden = .paused
        let slots = bench.slots(of: target, options)
        var answers = 0
        slots[.image].load(bench.request(5)) { _ in answers += 1 }
        bench.settle()
        slots.isVisible = false
        bench.settle()
        #expect(bench.transport.running == 0 && slots[.image].state.phase.name == "paused" && answers == 0)
        // A load that begins in a hidden slot waits, too.
        slots.load(bench.request(5), into: .background)
        bench.settle()
        #expect(bench.transport.hits(SlotBench.url(5)) == 1)
        gate.open()
        slots.isVisible = true
        bench.settle()
        #expect(target.shown == [.image: .picture(5), .background: .picture(5)] && answers == 1)
        #expect(bench.transport.hits(SlotBench.url(5)) == 2)
    }

    /// A list binds cells before they are visible. A picture in memory is shown at once, so there is nothing to wait
    /// for later.
    @Test func aPictureInMemoryIsShownInAHiddenTarget() throws {
        bench.remember(5)
        var options = SlotOptions()
        options.whenHidden = .paused
        let slots = bench.slots(of: target, options)
        slots.isVisible = false
        slots.load(bench.request(5))
        #expect(target.log == ["picture(5)"] && target.phases == ["loaded from memory"])
        slots.isVisible = true
        bench.settle()
        #expect(target.log == ["picture(5)"] && bench.transport.requests.isEmpty)
    }

    /// A list binds cells ahead, and their pictures may come into memory before the cells are visible.
    @Test func lookInMemoryShowsAPictureThatArrivedMeanwhile() throws {
        var options = SlotOptions()
        options.whenHidden = .paused
        let slots = bench.slots(of: target, options)
        slots.isVisible = false
        slots.load(bench.request(5))
        slots.lookInMemory()
        #expect(slots[.image].state.phase.name == "paused" && target.shown[.image] != .picture(5))
        bench.remember(5)
        slots.lookInMemory()
        #expect(target.shown[.image] == .picture(5) && bench.transport.requests.isEmpty)
        slots.isVisible = true
        bench.settle()
        #expect(target.shown[.image] == .picture(5) && bench.transport.requests.isEmpty)
    }

    @Test func aTargetThatGrewWhileHiddenReloadsWhenVisible() throws {
        try bench.answer(200, height: 100)
        let slots = bench.slots(of: target, fitting())
        slots.resize(to: PixelSize(width: 20, height: 20))
        slots.load(bench.request(200))
        bench.settle()
        slots.isVisible = false
        slots.resize(to: PixelSize(width: 60, height: 60))
        bench.settle()
        #expect(target.shown[.image] == .picture(20))
        slots.isVisible = true
        bench.settle()
        #expect(target.shown[.image] == .picture(60))
    }

    /// The larger size counted as that of the shown picture as soon as its load began.
    @Test func aLargerPictureWhoseLoadWasInterruptedIsLoadedWhenVisibleAgain() throws {
        try bench.answer(200, height: 100)
        let slots = bench.slots(of: target, fitting { $0.whenHidden = .paused })
        slots.resize(to: PixelSize(width: 20, height: 20))
        slots.load(bench.request(200))
        bench.settle()
        slots.resize(to: PixelSize(width: 60, height: 60))
        slots.isVisible = false
        bench.settle()
        #expect(target.shown[.image] == .picture(20))
        slots.isVisible = true
        bench.settle()
        #expect(target.shown[.image] == .picture(60))
    }

    // MARK: - Connectivity

    private final class Network: ConnectivityMonitor {
        private let list = ObserverList()
        private let count = Atomic(0)
        var observers: Int { count.load(ordering: .relaxed) }

        func onReturn(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation {
            let observation = list.add(action)
            count.add(1, ordering: .relaxed)
            return ConnectivityObservation { [self] in
                _ = observation
                count.subtract(1, ordering: .relaxed)
            }
        }

        func comesBack() { list.tell() }
    }

    @Test func onReturnIsCalledOnlyWhenTheNetworkComesBack() {
        let network = SystemNetwork()
        let told = Atomic(0)
        do {
            let observation = network.onReturn { told.add(1, ordering: .relaxed) }
            for isAvailable in [true, true, false, false, true, true, false] {
                network.changed(isAvailable: isAvailable)
            }
            withExtendedLifetime(observation) {}
        }
        #expect(told.load(ordering: .relaxed) == 1)
        network.changed(isAvailable: true)
        #expect(told.load(ordering: .relaxed) == 1, "nobody observes it any more")
    }

    @Test func aLoadThatFailedOfflineIsRetriedWhenTheNetworkIsBack() throws {
        let network = Network()
        let offline = FakeAnswer.failure(WebImageError(.dnsFailed, "no address"))
        bench.transport.answer(
            SlotBench.url(5), offline, offline, .bytes(try Fixture.png(5, 2), contentType: "image/png"))
        bench.transport.answer(SlotBench.url(6), .status(404))
        do {
            let slots = ImageSlots(
                of: target, manager: bench.manager, connectivity: network, hop: bench.loop.hop)
            var answers = 0
            slots[.image].load(bench.request(5)) { _ in answers += 1 }
            slots.load(bench.request(6), into: .background)
            bench.settle()
            #expect(slots[.image].state.error?.code == .dnsFailed)
            network.comesBack()
            bench.settle()
            #expect(slots[.image].state.error?.code == .dnsFailed)
            network.comesBack()
            bench.settle()
            #expect(target.shown[.image] == .picture(5) && answers == 1)
            network.comesBack()
            bench.settle()
            #expect(bench.transport.hits(SlotBench.url(5)) == 3 && bench.transport.hits(SlotBench.url(6)) == 1)
        }
        #expect(network.observers == 0)
    }

    /// A picture that was too small for its target once stayed so until the target was hidden.
    @Test func aLargerPictureThatFailedOfflineIsLoadedWhenTheNetworkIsBack() throws {
        let network = Network()
        let png = FakeAnswer.bytes(try Fixture.png(200, 100), contentType: "image/png")
        bench.transport.answer(
            SlotBench.url(200), png, .failure(WebImageError(.dnsFailed, "no address")), png)
        let slots = ImageSlots(
            of: target, manager: bench.manager, options: fitting(), connectivity: network, hop: bench.loop.hop)
        slots.resize(to: PixelSize(width: 20, height: 20))
        slots.load(bench.request(200))
        bench.settle()
        slots.resize(to: PixelSize(width: 60, height: 60))
        bench.settle()
        #expect(target.shown[.image] == .picture(20) && bench.transport.hits(SlotBench.url(200)) == 2)
        network.comesBack()
        bench.settle()
        #expect(target.shown[.image] == .picture(60) && bench.transport.hits(SlotBench.url(200)) == 3)
        network.comesBack()
        bench.settle()
        #expect(bench.transport.hits(SlotBench.url(200)) == 3)
    }

    /// One of the slots once missed the later change, and stayed paused.
    @Test func aCompletionMayShowTheTargetAgainWhileItIsBeingHidden() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        try bench.answer(6, gate: gate)
        let target = ShowingTarget()
        let slots = ImageSlots(of: target, manager: bench.manager, options: pausing, hop: bench.loop.hop)
        target.slots = slots
        slots.load(bench.request(5))
        slots.load(bench.request(6), into: .background)
        bench.settle()
        target.isWatching = true
        slots.isVisible = false
        gate.open()
        bench.settle()
        #expect(slots.isVisible && target.widths == [.image: 5, .background: 6])
    }

    /// Visibility that changed in the completion of the call before was lost.
    @Test func aCompletionOfTheCallBeforeMayShowTheTarget() throws {
        try bench.answer(6)
        let slots = bench.slots(of: target, pausing)
        slots.isVisible = false
        slots[.image].load(bench.request(5)) { _ in slots.isVisible = true }
        slots[.image].load(bench.request(6))
        bench.settle()
        #expect(target.shown[.image] == .picture(6))
    }

    /// Failures without a network once kept a host blocked for a while after the network was back.
    @Test func aHostThatFailedOfflineIsAskedWhenTheNetworkIsBack() throws {
        let (network, bench) = (Network(), SlotBench { $0.download.circuit = CircuitPolicy() })
        let slots = ImageSlots(of: target, manager: bench.manager, connectivity: network, hop: bench.loop.hop)
        let offline = FakeAnswer.failure(WebImageError(.dnsFailed, "no address"))
        for number in 0..<20 {
            bench.transport.answer(SlotBench.url(number), offline)
            slots.load(bench.request(number))
            bench.settle()
        }
        #expect(slots[.image].state.error?.code == .circuitOpen)
        bench.transport.answer(SlotBench.url(30), .bytes(try Fixture.png(5, 2), contentType: "image/png"))
        network.comesBack()
        slots.load(bench.request(30))
        bench.settle()
        #expect(target.shown[.image] == .picture(5))
    }

    @Test func anEqualCallDoesNotEndARetryAfterTheNetworkIsBack() throws {
        let (network, gate) = (Network(), Gate())
        let good = FakeAnswer.bytes(try Fixture.png(5, 2), contentType: "image/png")
        bench.transport.answer(
            SlotBench.url(5), .failure(WebImageError(.dnsFailed, "no address")), good.held(by: gate))
        let slots = ImageSlots(of: target, manager: bench.manager, connectivity: network, hop: bench.loop.hop)
        slots.options.keepsEqualLoad = true
        slots.load(bench.request(5))
        bench.settle()
        network.comesBack()
        bench.settle()
        slots.load(bench.request(5))
        gate.open()
        bench.settle()
        #expect(target.shown[.image] == .picture(5) && bench.transport.hits(SlotBench.url(5)) == 2)
    }
}

extension SlotBench {
    /// The priority of the load of a picture, or nil if it is not being loaded.
    func priority(of number: Int) -> LoadPriority? {
        manager.loader.table.withLock { table in
            table.pixelJobs.values.first { $0.request.url == SlotBench.url(number) }?.bytes.priority
        }
    }
}

/// A target that becomes visible as soon as one of its slots pauses.
@MainActor private final class ShowingTarget: ImageTarget {
    weak var slots: ImageSlots?
    var isWatching = false
    private(set) var widths: [SlotName: Int] = [:]

    func setImage(_ image: Image?, in slot: SlotName) { widths[slot] = image?.size.width }

    func slot(_ slot: SlotName, didChange state: SlotState) {
        if isWatching, case .paused = state.phase { slots?.isVisible = true }
    }
}
