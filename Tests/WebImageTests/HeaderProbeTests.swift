import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

@Suite struct HeaderProbeTests {
    /// A probe without a caller once went on to the header, and in a GIF to the end, while others needed the transfer.
    @Test func aCancelledProbeReadsNoFurther() async throws {
        let executor = SeededExecutor()
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(
            configuration, coders: .standard, transport: FakeTransport(), clock: ManualClock(),
            files: PosixFileSystem(), executor: executor)
        let log = ByteLog(budget: TransferMemoryBudget(), files: PosixFileSystem(), executor: executor)
        let picture = try Fixture.png(40, 30)
        func arrive(_ index: Int) {
            _ = picture[index...index].withUnsafeBytes { log.append($0) }
            log.publish()
        }
        let request = ImageRequest("http://pictures.test/a.png")
        let probe = HeaderProbe(log, .network, for: request, by: manager.loader.decoding)
        let task = Task { await #expect(throws: WebImageError.self) { try await probe.details() } }
        arrive(0)
        #expect(await eventually { executor.runOne { _ in 0 } })
        task.cancel()
        _ = await task.value
        arrive(1)
        while executor.runOne({ _ in 0 }) {}
        // It no longer waits for bytes.
        arrive(2)
        #expect(!executor.runOne { _ in 0 })
    }
}
