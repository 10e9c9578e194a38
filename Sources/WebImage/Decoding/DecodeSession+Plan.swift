import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageSystem

// The plan of a session: which pictures it makes. It is made when the header is known, and again when the session
// starts again.
extension DecodeSession {
    func makePlan(_ header: ImageHeader, _ coder: any ImageCoder) throws(WebImageError) -> DecodePlan {
        plan.header = header
        let wasDeep = plan.isDeep
        let group = plan.group ?? takeGroup(header, coder)
        plan.group = group
        if plan.isDeep, !wasDeep, header.bitDepth > 8 {
            hold.needsDeepDecoder = true
            throw WebImageError(.limitExceeded, "the decoder must give 16 bits a channel")
        }
        if hold.place == .ofCaller, !group.isSmall(header) { throw tooLargeForCaller() }
        if hold.memory == nil {
            guard service.memory.take(group.memory, client.priority) else {
                hold.waitsForMemory = true
                throw WebImageError(.limitExceeded, "the decode waits for memory")
            }
            hold.memory = group.memory
        }
        work.targets = makeTargets(group, header)
        guard !work.targets.isEmpty else { throw .cancelled }
        let sinks = work.targets.map(\.target.sink)
        return DecodePlan(
            scaleDenominator: group.scale.denominator, raster: group.scale.raster, size: group.scale.size,
            sink: sinks.count == 1 ? sinks[0] : FanOutSink(sinks))
    }

    /// Takes on the pictures that wait for a session, keeps those that need the scale of the first one, and starts
    /// sessions for the others.
    private func takeGroup(_ header: ImageHeader, _ coder: any ImageCoder) -> DecodeGroup<Client.Order> {
        let groups = DecodeGroup.grouping(takeOrders(header), header: header, coder: coder)
        for other in groups.dropFirst() {
            DecodeSession(reading.log, for: client, by: service, group: other).start()
        }
        return groups.first ?? DecodeGroup(coder: coder, orders: [], header: header)
    }

    /// Makes the targets of orders that still have waiters. An order that asks for more pixels than allowed fails; the
    /// others are not affected.
    private func makeTargets(
        _ group: DecodeGroup<Client.Order>, _ header: ImageHeader
    ) -> [PictureInMaking<Client.Order>] {
        var targets: [PictureInMaking<Client.Order>] = []
        // Most sessions have one order, which shares with no other.
        var places: [PictureKey: Int]? = group.orders.count > 1 ? [:] : nil
        for order in group.orders where !order.isAbandoned {
            let key = places == nil ? nil : PictureInMaking.sharedKey(of: order, header)
            if let key, let place = places?[key] {
                targets[place].add(order)
                continue
            }
            do throws(WebImageError) {
                let target = try group.makeTarget(
                    order, header: header, orientation: plan.orientation ?? header.orientation, service: service)
                if let key { places?[key] = targets.count }
                targets.append(PictureInMaking(target, for: order))
            } catch {
                client.refuse([order], error.endingALoad(of: order.place))
            }
        }
        return targets
    }

    /// The orders of this session, planned or not.
    ///
    /// - Parameter header: the header by which they are planned; nil: there is no plan.
    func takeOrders(_ header: ImageHeader? = nil) -> [Client.Order] {
        plan.knownOrders ?? client.takeOrders(header)
    }

    /// Starts again, because the body was replaced: neither the decoded rows nor the plan can be used.
    func beginAnew() {
        plan.beginAnew()
        pace.previews.isOwed = false
        giveBack()
        restart()
    }

    /// Starts again with a decoder that gives 16 bits a channel.
    func startDeep() {
        hold.needsDeepDecoder = false
        restart()
        start()
    }

    func restart() {
        work = SessionWork()
        reading.restart()
    }
}
