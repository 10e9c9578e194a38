import WebImageCore

/// The objects that all transfers of a downloader share, held by one reference.
final class TransferSurroundings: Sendable {
    let transport: any HTTPTransport
    let clock: any LoadClock
    let budget: TransferMemoryBudget
    let brake = TransferBrake()
    let events: DownloadEventHub
    let credentials: CredentialBook
    let jitter: @Sendable () -> Double

    init(
        transport: any HTTPTransport, clock: any LoadClock, budget: TransferMemoryBudget, events: DownloadEventHub,
        credentials: CredentialBook, jitter: @escaping @Sendable () -> Double
    ) {
        self.transport = transport
        self.clock = clock
        self.budget = budget
        self.events = events
        self.credentials = credentials
        self.jitter = jitter
    }
}
