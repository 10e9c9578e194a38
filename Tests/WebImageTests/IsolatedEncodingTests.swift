import Testing
import WebImage
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Whether the platform has sandboxes and the build has an encoder that runs in one.
private var canRun: Bool {
    #if canImport(Glibc)
        CoderRegistry.standard.encodableFormats.contains(.avif)
    #else
        false
    #endif
}

/// Encodes that a manager runs in worker processes.
@Suite(.enabled(if: canRun)) struct IsolatedEncodingTests {
    @Test func theIsolationDecidesWhetherAWorkerEncodes() async throws {
        let picture = try SamplePictures.sunset(PixelSize(width: 80, height: 60))
        var files: [[UInt8]] = []
        for isolation in [DecoderIsolation.none, .automatic, .all] {
            let bench = TestBench { $0.isolation = isolation }
            defer { bench.manager.shutDown() }
            files.append(try await bench.manager.encode(picture, as: .avif))
            #expect(bench.manager.isolationReport.started == (isolation == .none ? 0 : 1))
            _ = try await bench.manager.encode(picture, as: .jpeg)
            #expect(bench.manager.isolationReport.started <= 1)
        }
        let areSame = files.allSatisfy { $0 == files[0] }
        #expect(areSame)
    }

    /// Without the cancel, this encode would take minutes.
    @Test func aCancelledEncodeEndsItsProcess() async throws {
        let picture = try SamplePictures.sunset(PixelSize(width: 1200, height: 900))
        let bench = TestBench { $0.isolation = .automatic }
        let manager = bench.manager
        let encode = Task {
            var options = EncodeOptions(quality: 95)
            options.avifSpeed = 0
            return try await manager.encode(picture, as: .avif, options)
        }
        let limit = ContinuousClock.now + .seconds(60)
        while manager.isolationReport.state == .unused, ContinuousClock.now < limit { await Task.yield() }
        encode.cancel()
        await #expect(throws: WebImageError.self) { _ = try await encode.value }
        while manager.isolationReport.running > 0, ContinuousClock.now < limit { await Task.yield() }
        #expect(manager.isolationReport.ended == 1 && manager.isolationReport.crashed == 0)
        manager.shutDown()
    }
}
