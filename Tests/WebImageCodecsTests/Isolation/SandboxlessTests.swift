import CShimSandbox
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// Systems without the whole sandbox: old kernels, and containers that forbid it. In these tests, workers leave parts
/// of the sandbox out on request.
@Suite(.enabled(if: Workers.areAvailable)) struct SandboxlessTests {
    private static let files = SmallPictures.all()

    private func file(_ format: ImageFormat) throws -> [UInt8] {
        try #require(Self.files.first { $0.format == format }).bytes
    }

    private func outcome(_ format: ImageFormat, _ pool: DecoderPool) throws -> DecodeOutcome {
        let bytes = try file(format)
        let coder = try bytes.withUnsafeBytes {
            try CoderRegistry.standard.isolated(by: pool).coder(for: format, prefix: $0)
        }
        return DecodeOutcome(coder, bytes)
    }

    @Test(arguments: [WI_WORKER_WITHOUT_SECCOMP, WI_WORKER_WITHOUT_SECCOMP | WI_WORKER_WITHOUT_LANDLOCK])
    func withoutSeccompPicturesAreRefused(options: Int) throws {
        let events = Events()
        let pool = DecoderPool(.automatic, hiddenOptions: options) { events.add($0) }
        for _ in 0..<2 {
            let error = try outcome(.webp, pool).error
            #expect(error?.code == .decoderUnavailable && error?.message.contains("withoutSandbox") == true)
        }
        #expect(pool.report.state == .unavailable && pool.report.reason?.contains("seccomp") == true)
        #expect(pool.report.started == 1, "the kernel will have none a second later either")
        #expect(events.weak.count == 1, "it is told once")
        // Formats that are decoded in this process are not affected.
        #expect(try outcome(.png, pool).error == nil)
        pool.shutDown()
    }

    @Test func withoutSeccompPicturesAreDecodedHereOnRequest() throws {
        let pool = DecoderPool(
            DecoderIsolation(.automatic, withoutSandbox: .decodeHere), hiddenOptions: WI_WORKER_WITHOUT_SECCOMP)
        #expect(try outcome(.webp, pool).error == nil)
        #expect(try outcome(.webp, pool).rows > 0)
        #expect(pool.report.state == .unavailable && pool.report.running == 0 && pool.report.started == 1)
        let profile = ProfileBytes.tableOfDisplayP3.bytes
        #expect(try pool.converter(for: .profile(profile), .rgba8) != nil)
        pool.shutDown()
    }

    @Test func withoutSeccompProfilesWithTablesAreRefused() throws {
        let pool = DecoderPool(.automatic, hiddenOptions: WI_WORKER_WITHOUT_SECCOMP)
        #expect(throws: WebImageError.self) {
            _ = try pool.converter(for: .profile(ProfileBytes.tableOfDisplayP3.bytes), .rgba8)
        }
        let curves = ProfileBytes.rgb(ProfileBytes.displayP3, ProfileBytes.sRGBCurve).bytes
        #expect(try pool.converter(for: .profile(curves), .rgba8) != nil, "our own reads it")
        pool.shutDown()
    }

    @Test func withoutLandlockDrawingsAreRefused() throws {
        let pool = DecoderPool(.automatic, hiddenOptions: WI_WORKER_WITHOUT_LANDLOCK)
        #expect(try outcome(.webp, pool).error == nil, "these need no file at all")
        #expect(pool.report.state == .withoutLandlock)
        for format in [ImageFormat.svg, .pdf] where CoderRegistry.standard.decodableFormats.contains(format) {
            let error = try outcome(format, pool).error
            #expect(error?.code == .decoderUnavailable && error?.message.contains("landlock") == true)
        }
        #expect(try outcome(.webp, pool).error == nil)
        pool.shutDown()
    }

    /// Records the events of a pool.
    private final class Events: Sendable {
        private let kept = Guarded<[DecoderPool.Event]>([])

        func add(_ event: DecoderPool.Event) { kept.withLock { $0.append(event) } }

        var weak: [String] {
            kept.withLock { events in
                events.compactMap { event in
                    if case .isWeak(let reason) = event { reason } else { nil }
                }
            }
        }
    }
}
