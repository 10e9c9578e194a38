import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// Workers that are lost while they have nothing to do, and starts that fail for a while.
@Suite(.enabled(if: Workers.areAvailable)) struct LostWorkerTests {
    private static let files = SmallPictures.all()

    private func outcome(_ pool: DecoderPool) throws -> DecodeOutcome {
        let bytes = try #require(Self.files.first { $0.format == .png }).bytes
        return DecodeOutcome(IsolatedCoder(coder: PNGCoder(), pool: pool), bytes)
    }

    private func killAll(_ pool: DecoderPool) {
        pool.state.withLock { state in
            for process in state.processes { process.kill() }
        }
    }

    /// The picture that came next failed, although nothing was wrong with it.
    @Test func aWorkerThatWasKilledBeforeItsFirstPictureIsReplaced() throws {
        let pool = DecoderPool(.all)
        let spare = try DecoderProcess(.pictures, pool.settings)
        spare.lending.isBusy = false
        spare.kill()
        pool.take(spare)
        #expect(try outcome(pool).error == nil)
        #expect(pool.report.running == 1)
        pool.shutDown()
    }

    /// The profile was remembered as unusable.
    @Test func aWorkerThatWasKilledAfterAPictureDoesNotSpoilAProfile() throws {
        let pool = DecoderPool(.all)
        #expect(try outcome(pool).error == nil)
        killAll(pool)
        let profile = ProfileBytes.tableOfDisplayP3.bytes
        #expect(try pool.converter(for: .profile(profile), .rgba8) != nil)
        #expect(pool.report.crashed == 1)
        pool.shutDown()
    }

    /// They were decoded in the program, without the sandbox that the system has.
    @Test func picturesAreNotDecodedHereWhileStartsFail() throws {
        var isolation = DecoderIsolation(.all, withoutSandbox: .decodeHere)
        isolation.picturesPerProcess = 1
        let pool = DecoderPool(isolation)
        #expect(try outcome(pool).error == nil)
        #expect(pool.report.running == 0)
        pool.state.withLock { state in
            for _ in 0..<5 { state.failedStarts.noteFailure(at: .now) }
        }
        let error = try outcome(pool).error
        #expect(error?.code == .decoderUnavailable && error?.retryAfter != nil)
        pool.shutDown()
    }
}
