import CShimSandbox
import Testing
import WebImageCore

@testable import WebImageCodecs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A process that has ended is neither killed nor waited for again, because its number may belong to another process by
/// then.
@Suite(.enabled(if: Workers.areAvailable)) struct WorkerEndTests {
    /// Starts `/bin/sleep` in place of a worker.
    private func start(_ worker: inout wi_worker) throws {
        try #require(wi_worker_start("/bin/sleep", 0, 1 << 20, 1 << 16, &worker) == 0)
        try #require(worker.process > 0)
    }

    @Test(arguments: [true, false]) func aReapedProcessIsForgotten(hasProcessFile: Bool) throws {
        var worker = wi_worker()
        try start(&worker)
        defer { wi_worker_close(&worker) }
        if !hasProcessFile, worker.process_file >= 0 {
            // As on kernels before 5.3, which have no file for a process.
            wi_close(worker.process_file)
            worker.process_file = -1
        }
        let number = worker.process
        wi_worker_kill(&worker)
        for _ in 0..<2 {
            let end = wi_worker_wait(&worker)
            #expect(end.is_known == 1 && end.signal == 9)
            // The process is not reaped yet, so that no other process can have its number.
            #expect(worker.process == number && kill(number, 0) == 0)
        }
        wi_worker_reap(&worker)
        #expect(worker.process == -1 && kill(number, 0) == -1)
        wi_worker_kill(&worker)
        #expect(wi_worker_wait(&worker).is_known == 0)
        wi_worker_reap(&worker)
    }

    @Test func aProcessMayBeEndedTwice() throws {
        let process = try DecoderProcess(.pictures, WorkerSettings(memory: ByteCount(1 << 20), program: "/bin/sleep"))
        let first = process.end(while: "it slept")
        #expect(first.message.contains("killed"), "\(first)")
        process.kill()
        let second = process.end(while: "it was gone")
        #expect(second.code == .decoderCrashed && !second.message.contains("killed"), "\(second)")
    }
}
