import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Runs one decoder that follows a byte log, and gives its rows to every picture that can be made from them.
///
/// It holds a thread of the decode executor only while there are bytes to decode: when the log has no more, it
/// registers for a callback and leaves the thread. The first session of a log also plans: when the header is known it
/// takes on the pictures that need its scale, and starts sessions for the others.
final class DecodeSession<Client: DecodeClient>: @unchecked Sendable {
    // Sendable: runs on one thread at a time, each run begun by the last one's end.
    let service: DecodeService
    let client: Client
    var reading: SessionReading
    let plan: SessionPlan<Client.Order>
    var work = SessionWork<Client.Order>()
    var hold = SessionHold()
    var pace: SessionPace

    init(_ log: ByteLog, for client: Client, by service: DecodeService, group: DecodeGroup<Client.Order>? = nil) {
        self.service = service
        self.client = client
        reading = SessionReading(log)
        plan = SessionPlan(client.recipe, group)
        pace = SessionPace(meter: DecodeMeter(limit: plan.recipe.decoding.limits.time))
    }

    deinit {
        unpark()
        giveBack()
    }

    func start() {
        if beginsHere {
            hold.place = .ofCaller
            pace.meter.ask(at: service.clock.now)
            return run()
        }
        // Wait for the first bytes without occupying a thread.
        reading.log.whenReadable(after: reading.offset) { self.resume() }
    }

    /// Decodes the available bytes, until there are no more or the picture is complete.
    func run() {
        unpark()
        if hold.waitsForEnd, reading.log.end == nil {
            showProgress()
            return waitForBytes()
        }
        pace.meter.begin(at: service.clock.now)
        do {
            while true {
                switch reading.log.read(at: reading.offset, together: work.decoder?.preferredPushLength ?? 0) {
                case .wait:
                    if pace.previews.isOwed, !work.isComplete { showPreview(isIdle: true) }
                    pace.meter.end(at: service.clock.now)
                    return waitForBytes()
                case .chunk(let chunk):
                    guard try decode(chunk) else {
                        pace.meter.end(at: service.clock.now)
                        return waitForBytes()
                    }
                case .end(let end):
                    if reading.follow() {
                        beginAnew()
                    } else if try finish(end) {
                        return
                    }
                }
            }
        } catch {
            pace.meter.end(at: service.clock.now)
            stop(after: error)
        }
    }

    /// Decodes a chunk, and reports progress and previews.
    ///
    /// - Returns: false if the decoder wants the whole body at once, from its first byte.
    private func decode(_ chunk: ByteChunk) throws -> Bool {
        reading.offset = chunk.range.upperBound
        if !work.isComplete { try push(chunk) }
        if hold.whole == .asked {
            // Also if the bytes have become complete meanwhile: the decoder needs them from the first one.
            hold.whole = .waited
            restart()
            return false
        }
        try feedAnimations()
        showFirstFrames()
        showProgress()
        if wantsPreview {
            pace.previews.isOwed = true
            showPreview(isIdle: false)
        }
        return true
    }

    /// Continues on another thread or later, if the error was thrown for that reason; otherwise the pictures fail with
    /// it.
    private func stop(after error: any Error) {
        if hold.place == .tooLargeForCaller { return leaveCaller() }
        if hold.waitsForMemory { return waitForMemory() }
        if hold.needsDeepDecoder { return startDeep() }
        if reading.follow() {
            beginAnew()
            return start()
        }
        fail(WebImageError.wrapping(error, as: .corruptData, "the picture could not be decoded"))
    }
}

// MARK: - Bytes in

extension DecodeSession {
    private func push(_ chunk: ByteChunk) throws {
        if hold.turn == .needed { return }
        guard work.decoder == nil else { return try chunk.withUnsafeBytes { bytes in try push(bytes) } }
        let isFirst = reading.prefix.isEmpty
        // Only the bytes that identify the format are copied, since a chunk from a file may be the whole file.
        let head = chunk.withUnsafeBytes { bytes in
            let head = bytes.prefix(ImageFormat.sniffingLength)
            reading.prefix.append(contentsOf: head)
            return head.count
        }
        guard try openDecoder(isLast: false) else { return }
        if try pushWhole(chunk) { return }
        if isFirst {
            reading.prefix = []
            return try chunk.withUnsafeBytes { bytes in try push(bytes) }
        }
        try pushPrefix()
        try chunk.withUnsafeBytes { bytes in try push(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(head))) }
    }

    /// Gives a decoder that keeps all bytes the whole array or file at once.
    ///
    /// - Returns: false if the decoder gets the bytes in pieces.
    private func pushWhole(_ first: ByteChunk) throws(WebImageError) -> Bool {
        guard let decoder = work.decoder as? any CollectingDecoder else { return false }
        let isThere = if case .complete? = reading.log.end { first.range.lowerBound == 0 } else { false }
        let result: DecodeState
        try checkpoint()
        if isThere, let far = decoder as? any FileReadingDecoder, let file = reading.log.localFile {
            reading.offset = file.byteCount
            result = try far.push(file: file)
        } else if let array = first.wholeArray {
            reading.offset = array.count
            result = try decoder.push(whole: WholeFile(array))
        } else if isThere, hold.turn.isTaken || hold.whole == .waited {
            let array = try reading.log.collect()
            reading.offset = array.count
            result = try decoder.push(whole: WholeFile(array))
        } else {
            return false
        }
        reading.prefix = []
        if case .complete = result { work.isComplete = true }
        return true
    }

    /// Gives animations all bytes so far, from the first on, since they begin when the header is known.
    private func feedAnimations() throws(WebImageError) {
        while reading.animationOffset < reading.offset, work.targets.contains(where: { $0.target.frames != nil }) {
            try checkpoint()
            guard case .chunk(let chunk) = reading.log.read(at: reading.animationOffset) else { return }
            reading.animationOffset = chunk.range.upperBound
            for made in work.targets { try made.target.frames?.push(chunk) }
        }
    }

    private func pushPrefix() throws {
        let first = reading.prefix
        reading.prefix = []
        try first.withUnsafeBytes { bytes in try push(bytes) }
    }

    private func push(_ bytes: UnsafeRawBufferPointer) throws {
        guard let decoder = work.decoder else { return }
        var rest = bytes[...]
        while !rest.isEmpty, !work.isComplete {
            try checkpoint()
            // In pieces, so that a cancellation is noticed soon and the decoder's own buffer stays small.
            let piece = UnsafeRawBufferPointer(
                rebasing: decoder.acceptsLongPushes ? rest : rest.prefix(128 << 10))
            rest = rest.dropFirst(piece.count)
            if case .complete = try decoder.push(piece) { work.isComplete = true }
        }
    }

    /// Chooses the coder by the first bytes.
    ///
    /// - Returns: false if the decoder cannot be made yet: the format needs more bytes, or the coder the whole file or
    ///   a turn.
    private func openDecoder(isLast: Bool) throws(WebImageError) -> Bool {
        if work.decoder != nil { return true }
        let format = reading.prefix.withUnsafeBytes { ImageFormat(sniffing: $0) }
        if format == nil, !isLast, reading.prefix.count < ImageFormat.sniffingLength { return false }
        let coder = try chooseCoder(for: format)
        if hold.place == .ofCaller, !coder.timeDependsOnlyOnPixels { throw tooLargeForCaller() }
        if coder.needsWholeFile, reading.log.end == nil {
            hold.waitsForEnd = true
            hold.whole = .asked
            return false
        }
        if coder.decodesInOneCall, !hold.turn.isTaken {
            hold.turn = .needed
            hold.needsVectorTurn = coder.decodableFormats.contains(where: \.isVector)
            reading.prefix = []
            return false
        }
        let decoding = plan.recipe.decoding
        guard decoding.page == 0 || coder.readsPages else {
            throw WebImageError(
                .unsupportedFeature, "there is no page \(UInt(clamping: decoding.page) + 1): only TIFFs have pages",
                format: format)
        }
        var options = DecodeOptions(
            limits: decoding.limits, keepsBitDepth: plan.isDeep,
            checkpoint: { [unowned self] () throws(WebImageError) in try self.checkpoint() })
        options.page = decoding.page
        options.usesEmbeddedThumbnail = decoding.usesEmbeddedThumbnail
        options.idleThreads = service.idleThreads
        work.decoder = try coder.makeDecoder(options) { [unowned self] header throws(WebImageError) in
            try self.makePlan(header, coder)
        }
        return true
    }

    private func chooseCoder(for format: ImageFormat?) throws(WebImageError) -> any ImageCoder {
        if let group = plan.group { return group.coder }
        return try service.coder(for: format, prefix: reading.prefix, plan.recipe)
    }

    /// Whether the session's pictures have no waiters left.
    var isAbandoned: Bool {
        if !work.targets.isEmpty { return work.targets.allSatisfy(\.isAbandoned) }
        guard let orders = plan.knownOrders else { return client.isAbandoned }
        return orders.allSatisfy(\.isAbandoned)
    }

    /// Ends the decode if it has no waiters left, or has taken too long.
    private func checkpoint() throws(WebImageError) {
        if isAbandoned { throw .cancelled }
        try pace.meter.check(at: service.clock.now)
    }
}

// MARK: - Pictures out

extension DecodeSession {
    /// Ends the decode, when the log has ended.
    ///
    /// - Returns: false if the log must be read again from its start.
    private func finish(_ end: ByteLog.End) throws -> Bool {
        // A transfer that ended because there are no waiters left needs no picture.
        if isAbandoned { throw WebImageError.cancelled }
        if case .failed(let error) = end {
            if client.standsIn(for: error, { takeOrders() }) {
                pace.meter.end(at: service.clock.now)
                release()
                return true
            }
            // No bytes arrived: report this failure, however long this thread had to wait for its turn.
            if work.decoder == nil, hold.turn != .needed, reading.prefix.isEmpty { throw error }
        }
        try checkpoint()
        if work.decoder == nil, hold.turn != .needed {
            let isReady: Bool
            do throws(WebImageError) { isReady = try openDecoder(isLast: true) } catch {
                // So few bytes say nothing about the format.
                if case .failed(let failure) = end, error.code == .unknownFormat { throw failure }
                throw error
            }
            if isReady { try pushPrefix() }
        }
        if hold.turn == .needed { return waitForTurn() }
        var failure: WebImageError?
        if case .failed(let error) = end { failure = error }
        do {
            if !work.isComplete { try work.decoder?.finish() }
            try feedAnimations()
            for made in work.targets { try made.target.frames?.finish() }
        } catch {
            guard error.code == .truncatedData, work.targets.contains(where: \.target.hasRows) else {
                throw failure ?? error
            }
            failure = failure ?? error
        }
        if restartsForLateOrientation() { return false }
        pace.meter.end(at: service.clock.now)
        answer(failure)
        return true
    }

    /// A PNG may have its orientation after the pixels. Pictures that were sized for another orientation are made
    /// again.
    private func restartsForLateOrientation() -> Bool {
        guard plan.learn(work.decoder?.header?.orientation) else { return false }
        restart()
        return true
    }

    private func answer(_ failure: WebImageError?) {
        let made = work.targets
        let header = work.decoder?.header ?? plan.header
        let delivery = client.deliver(reading.log, header, failure: failure)
        let answer = DecodeAnswer(
            service: service, client: client, delivery: delivery, header: header, failure: failure,
            span: pace.meter.span(endedAt: service.clock.now))
        // The memory is held until the last picture is made.
        let share = handOver()
        answer.send(made) { isWhole in
            share.giveBack()
            delivery.end(isWhole: isWhole)
        }
    }

    /// Ends all orders of this session with an error.
    func fail(_ error: WebImageError) {
        let span = reading.offset > 0 ? pace.meter.span(endedAt: service.clock.now) : nil
        client.fail(takeOrders(), error.endingALoad(of: client.place), span)
        release()
    }

    private func release() {
        for made in work.targets { made.target.frames?.end() }
        work.targets = []
        work.decoder = nil
        giveBack()
    }
}
