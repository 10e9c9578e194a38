import Synchronization
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Records the callbacks of a transport, and checks that they come in the promised order.
final class RecordingReceiver: TransportReceiver {
    struct Record: Sendable {
        var events: [String] = []
        var head: ResponseHead?
        var body: [UInt8] = []
        var bytesSinceBatch = 0
        var result: Result<TransportTimings, WebImageError>?
        /// Callbacks that came during another callback or out of order, as sentences.
        var faults: [String] = []
        var isInCallback = false
    }

    private let record = Guarded(Record())
    private let finished = Gate()
    private let bodyGates = Guarded<[(count: Int, gate: Gate)]>([])
    /// Answers each piece of the body. Its argument is the number of bytes so far.
    private let flow: @Sendable (Int) -> TransportFlow

    init(flow: @escaping @Sendable (Int) -> TransportFlow = { _ in .proceed }) { self.flow = flow }

    var now: Record { record.withLock { $0 } }

    /// Waits for the end of the transfer, and returns the complete record.
    func finish() async -> Record {
        await finished.opened()
        return now
    }

    /// Waits until `count` bytes have arrived in batches that have ended, or until the transfer has ended.
    func received(_ count: Int) async {
        let gate = Gate()
        bodyGates.withLock { $0.append((count, gate)) }
        openGates()
        await gate.opened()
    }

    private func openGates() {
        let state = now
        let open = bodyGates.withLock { gates in
            gates.filter { $0.count <= state.body.count - state.bytesSinceBatch || state.result != nil }
        }
        for (_, gate) in open { gate.open() }
    }

    private func note(_ event: String, _ change: (inout Record) -> Void) {
        record.withLock { record in
            if record.isInCallback { record.faults.append("\(event) during another callback") }
            record.isInCallback = true
            if record.result != nil { record.faults.append("\(event) after the end") }
            if record.events.last != event { record.events.append(event) }
            change(&record)
        }
    }

    private func leave() { record.withLock { $0.isInCallback = false } }

    func didConnect() {
        note("connect") { if $0.events.count > 1 { $0.faults.append("connect was not first") } }
        leave()
    }

    func didReceive(head: ResponseHead) {
        note("head") { record in
            if record.head != nil || record.events.first != "connect" { record.faults.append("head out of order") }
            record.head = head
        }
        leave()
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow {
        let count = record.withLock { $0.body.count } + bytes.count
        note("bytes") { record in
            if record.head == nil { record.faults.append("bytes before the head") }
            if bytes.isEmpty { record.faults.append("no bytes") }
            record.body += bytes
            record.bytesSinceBatch += bytes.count
        }
        let flow = flow(count)
        leave()
        return flow
    }

    func didEndBatch() {
        note("batch") { $0.bytesSinceBatch = 0 }
        leave()
        openGates()
    }

    func didFinish(_ result: Result<TransportTimings, WebImageError>) {
        note("finish") { $0.result = result }
        leave()
        openGates()
        finished.open()
    }
}

extension Result where Success == TransportTimings, Failure == WebImageError {
    var name: String {
        switch self {
        case .success: "ok"
        case .failure(let error): error.code.name
        }
    }
}
