import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload

/// One decoder that follows a byte log and gives its rows to every picture that can be made from them.
///
/// It holds a thread of the decode executor only while there are bytes to decode: when the log has no more, it asks to
/// be told and leaves. The first session of some bytes also plans: once the header is known it takes on the pictures
/// that want its scale, and starts sessions for those that want another.
final class DecodeSession<Client: DecodeClient>: @unchecked Sendable {
    // Sendable: runs on one thread at a time, each run begun by the last one's end.
    let service: DecodeService
    let client: Client
    /// What all orders agree in.
    let recipe: PictureRecipe
    private(set) var log: ByteLog
    /// What this session makes: what another session's plan left to it, or its own plan.
    private(set) var group: DecodeGroup<Client.Order>?
    /// The pictures to make when the body was replaced before it could be planned how.
    private var unplanned: [Client.Order]?
    var decoder: (any ImageDecoder)?
    var targets: [PictureInMaking<Client.Order>] = []
    private(set) var header: ImageHeader?
    var offset = 0
    /// How far the animations among the targets have read.
    private var animationOffset = 0
    /// The first bytes, kept until they tell the format.
    private var prefix: [UInt8] = []
    var isComplete = false
    var admitted: Int?
    /// What is laid down while there are no bytes to decode; see ``Admission/park(_:_:_:)``.
    var parked: Int?
    /// True once others needed its memory more: it then decodes when all bytes are there, in one go.
    var waitsForEnd = false
    var turn = LongDecodeTurn.notNeeded
    var needsVectorTurn = false
    /// True when the plan found no memory: the decoder then ends, and begins anew when there is some.
    var waitsForMemory = false
    private var orientation: Orientation?
    private var hasRestarted = false
    var meter: DecodeMeter
    var previews = PreviewPace()

    init(_ log: ByteLog, for client: Client, by service: DecodeService, group: DecodeGroup<Client.Order>? = nil) {
        self.service = service
        self.client = client
        recipe = client.recipe
        self.log = log.latest
        self.group = group
        meter = DecodeMeter(limit: recipe.decoding.limits.time)
    }

    deinit {
        takeUp()
        giveBack()
    }

    func start() {
        // Nothing to decode yet: do not occupy a thread to find that out.
        log.whenReadable(after: offset) { self.resume() }
    }

    /// Decodes what there is, until there is no more or the picture is done.
    func run() {
        takeUp()
        if waitsForEnd, log.end == nil {
            showProgress()
            return waitForBytes()
        }
        meter.begin(at: service.clock.now)
        do {
            while true {
                switch log.read(at: offset) {
                case .wait:
                    if previews.isOwed, !isComplete { showPreview() }
                    meter.end(at: service.clock.now)
                    return waitForBytes()
                case .chunk(let chunk):
                    offset = chunk.range.upperBound
                    if !isComplete { try push(chunk) }
                    try feedAnimations()
                    showFirstFrames()
                    showProgress()
                    if wantsPreview {
                        previews.isOwed = true
                        showPreview()
                    }
                case .end(let end):
                    if follow() {
                        beginAnew()
                    } else if try finish(end) {
                        return
                    }
                }
            }
        } catch {
            meter.end(at: service.clock.now)
            if waitsForMemory { return waitForMemory() }
            if follow() {
                beginAnew()
                return start()
            }
            fail(WebImageError.wrapping(error, as: .corruptData, "the picture could not be decoded"))
        }
    }
}

// MARK: - Bytes in

extension DecodeSession {
    private func push(_ chunk: ByteChunk) throws {
        if turn == .needed { return }
        guard decoder == nil else { return try chunk.withUnsafeBytes { bytes in try push(bytes) } }
        // Only what tells the format is copied: a chunk from a file may be all of it.
        let head = chunk.withUnsafeBytes { bytes in
            let head = bytes.prefix(ImageFormat.sniffingLength)
            prefix.append(contentsOf: head)
            return head.count
        }
        guard try openDecoder(isLast: false) else { return }
        if let file = chunk.wholeArray, let collecting = decoder as? any CollectingDecoder {
            prefix = []
            try checkpoint()
            if case .complete = try collecting.push(file: file) { isComplete = true }
            return
        }
        try pushPrefix()
        try chunk.withUnsafeBytes { bytes in try push(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(head))) }
    }

    /// Gives animations all bytes so far, from the first on: they begin when the header is known.
    private func feedAnimations() throws(WebImageError) {
        while animationOffset < offset, targets.contains(where: { $0.target.frames != nil }) {
            try checkpoint()
            guard case .chunk(let chunk) = log.read(at: animationOffset) else { return }
            animationOffset = chunk.range.upperBound
            for made in targets { try made.target.frames?.push(chunk) }
        }
    }

    private func pushPrefix() throws {
        let first = prefix
        prefix = []
        try first.withUnsafeBytes { bytes in try push(bytes) }
    }

    private func push(_ bytes: UnsafeRawBufferPointer) throws {
        guard let decoder else { return }
        var rest = bytes[...]
        while !rest.isEmpty, !isComplete {
            try checkpoint()
            // So that a cancel is seen soon and the decoder's own buffer stays small.
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(128 << 10))
            rest = rest.dropFirst(piece.count)
            if case .complete = try decoder.push(piece) { isComplete = true }
        }
    }

    /// Chooses the coder by the first bytes.
    /// - Returns: false when it takes more of them to tell.
    private func openDecoder(isLast: Bool) throws(WebImageError) -> Bool {
        if decoder != nil { return true }
        let format = prefix.withUnsafeBytes { ImageFormat(sniffing: $0) }
        if format == nil, !isLast, prefix.count < ImageFormat.sniffingLength { return false }
        let coder = try chooseCoder(for: format)
        if coder.decodesInOneCall, !turn.isTaken {
            turn = .needed
            needsVectorTurn = coder.decodableFormats.contains(where: \.isVector)
            prefix = []
            return false
        }
        guard recipe.decoding.page == 0 || coder.readsPages else {
            throw WebImageError(
                .unsupportedFeature, "there is no page \(recipe.decoding.page + 1): only TIFFs have pages",
                format: format
            )
        }
        var options = DecodeOptions(
            limits: recipe.decoding.limits, keepsBitDepth: recipe.decoding.keepsBitDepth,
            checkpoint: { [unowned self] () throws(WebImageError) in try self.checkpoint() })
        options.page = recipe.decoding.page
        decoder = try coder.makeDecoder(options) { [unowned self] header throws(WebImageError) in
            try self.plan(header, coder)
        }
        return true
    }

    private func chooseCoder(for format: ImageFormat?) throws(WebImageError) -> any ImageCoder {
        if let group { return group.coder }
        return try service.coder(for: format, prefix: prefix, recipe)
    }

    /// Whether nobody waits any more for what it makes.
    var isAbandoned: Bool {
        if !targets.isEmpty { return targets.allSatisfy(\.isAbandoned) }
        guard let knownOrders else { return client.isAbandoned }
        return knownOrders.allSatisfy(\.isAbandoned)
    }

    /// Ends the decode when nobody waits for it, or when it has taken too long.
    private func checkpoint() throws(WebImageError) {
        if isAbandoned { throw .cancelled }
        try meter.check(at: service.clock.now)
    }
}

// MARK: - The plan

extension DecodeSession {
    private func plan(_ header: ImageHeader, _ coder: any ImageCoder) throws(WebImageError) -> DecodePlan {
        self.header = header
        let group = group ?? takeGroup(header, coder)
        self.group = group
        if admitted == nil {
            guard service.memory.take(group.memory, client.priority) else {
                waitsForMemory = true
                throw WebImageError(.limitExceeded, "the decode waits for memory")
            }
            admitted = group.memory
        }
        targets = makeTargets(group, header)
        guard !targets.isEmpty else { throw .cancelled }
        let sinks = targets.map(\.target.sink)
        return DecodePlan(
            scaleDenominator: group.scale.denominator, raster: group.scale.raster, size: group.scale.size,
            sink: sinks.count == 1 ? sinks[0] : FanOutSink(sinks))
    }

    /// Takes on the pictures that wait for a session, keeps those that want the first one's scale, and starts sessions
    /// for the others.
    private func takeGroup(_ header: ImageHeader, _ coder: any ImageCoder) -> DecodeGroup<Client.Order> {
        let groups = DecodeGroup.grouping(takeOrders(header), header: header, coder: coder)
        for other in groups.dropFirst() {
            DecodeSession(log, for: client, by: service, group: other).start()
        }
        return groups.first ?? DecodeGroup(coder: coder, orders: [], header: header)
    }

    /// What is to be made for those who still wait. Who asks for more pixels than allowed is told so; the others do not
    /// suffer from it.
    private func makeTargets(
        _ group: DecodeGroup<Client.Order>, _ header: ImageHeader
    ) -> [PictureInMaking<Client.Order>] {
        var targets: [PictureInMaking<Client.Order>] = []
        // Most sessions have one order, which has nobody to share with.
        var places: [PictureKey: Int]? = group.orders.count > 1 ? [:] : nil
        for order in group.orders where !order.isAbandoned {
            let key = places == nil ? nil : PictureInMaking.sharedKey(of: order, header)
            if let key, let place = places?[key] {
                targets[place].add(order)
                continue
            }
            do throws(WebImageError) {
                let target = try group.makeTarget(
                    order, header: header, orientation: orientation ?? header.orientation, service: service)
                if let key { places?[key] = targets.count }
                targets.append(PictureInMaking(target, for: order))
            } catch {
                client.refuse([order], error.endingALoad(of: order.place))
            }
        }
        return targets
    }

    /// The pictures that it has to make, planned or not.
    ///
    /// - Parameter header: what they are planned by; nil: there is no plan.
    private func takeOrders(_ header: ImageHeader? = nil) -> [Client.Order] { knownOrders ?? client.takeOrders(header) }

    /// Those that nobody else will take on.
    var knownOrders: [Client.Order]? { group?.orders ?? unplanned }

    /// Goes on where the body is now: the origin may have another one than the one that began to come.
    ///
    /// - Returns: whether what was read so far is of no use.
    private func follow() -> Bool {
        let latest = log.latest
        if latest === log { return false }
        log = latest
        return true
    }

    /// The body was replaced: all that was made of the first one is of no use, and the plan neither.
    private func beginAnew() {
        unplanned = knownOrders
        group = nil
        header = nil
        orientation = nil
        hasRestarted = false
        previews.isOwed = false
        giveBack()
        restart()
    }

    func restart() {
        decoder = nil
        targets = []
        offset = 0
        animationOffset = 0
        prefix = []
        isComplete = false
    }
}

// MARK: - Pictures out

extension DecodeSession {
    /// - Returns: false when the log has to be read once more from its start.
    private func finish(_ end: ByteLog.End) throws -> Bool {
        // A transfer that ends because nobody waits any more is not worth a picture.
        try checkpoint()
        if case .failed(let error) = end, client.standsIn(for: error, { takeOrders() }) {
            meter.end(at: service.clock.now)
            letGo()
            return true
        }
        if decoder == nil, turn != .needed {
            if case .failed(let error) = end, prefix.isEmpty { throw error }
            if try openDecoder(isLast: true) { try pushPrefix() }
        }
        if turn == .needed { return waitForTurn() }
        var failure: WebImageError?
        if case .failed(let error) = end { failure = error }
        do {
            if !isComplete { try decoder?.finish() }
            try feedAnimations()
            for made in targets { try made.target.frames?.finish() }
        } catch {
            guard error.code == .truncatedData, targets.contains(where: \.target.hasRows) else {
                throw failure ?? error
            }
            failure = failure ?? error
        }
        if restartsForLateOrientation() { return false }
        meter.end(at: service.clock.now)
        answer(failure)
        return true
    }

    /// A PNG may tell its orientation behind the pixels. What was sized for another orientation is made once more.
    private func restartsForLateOrientation() -> Bool {
        guard let late = decoder?.header?.orientation, let planned = header?.orientation,
            late != (orientation ?? planned),
            !hasRestarted
        else { return false }
        orientation = late
        hasRestarted = true
        restart()
        return true
    }

    private func answer(_ failure: WebImageError?) {
        let made = targets
        let header = decoder?.header ?? header
        let delivery = client.deliver(log, header, failure: failure)
        let answer = DecodeAnswer(
            service: service, client: client, delivery: delivery, header: header, failure: failure,
            decodeTime: meter.spent)
        // The memory stays taken until the last picture is made.
        let share = handOver()
        answer.send(made) { isWhole in
            share.giveBack()
            delivery.end(isWhole: isWhole)
        }
    }

    /// Ends every picture that this session was to make.
    func fail(_ error: WebImageError) {
        client.fail(takeOrders(), error.endingALoad(of: client.place))
        letGo()
    }

    private func letGo() {
        targets = []
        decoder = nil
        giveBack()
    }
}
