import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Two processes keep partial bodies in one directory and are killed (SIGKILL), again and again.
@Suite struct PartialKillNineTests {
    private let files = PosixFileSystem()

    @Test func killedProcessesLeaveRightBeginnings() throws {
        let scratch = try Scratch()
        let folder = scratch.path + "/default/v1/partial"
        var random = SeededGenerator(seed: 99)
        var (bytes, unfinished) = (0, 0)
        for round in 0..<12 {
            let before = sizes(in: folder)
            let workers = try (0..<2).map { _ in try start(scratch.path, seed: random.next() >> 1) }
            // Waits until one of them has written something, and for a moment more.
            while sizes(in: folder) == before, workers.allSatisfy(isRunning) { _ = sched_yield() }
            for _ in 0..<random.below(1000) { _ = sched_yield() }
            for worker in workers { #expect(isRunning(worker) && kill(worker), "round \(round)") }
            unfinished += try unfinishedFiles(in: folder)
            #expect(sizes(in: folder).values.reduce(0, +) <= 3 << 20, "round \(round)")
            bytes += try #require(try PartialKillWorker.check(directory: scratch.path), "round \(round)")
        }
        #expect(bytes > 0, "nothing was kept, so that nothing could be wrong")
        #expect(unfinished > 0, "no worker was killed while it had claimed anything")
    }

    private func sizes(in folder: String) -> [String: Int64] {
        var sizes: [String: Int64] = [:]
        for name in (try? files.names(in: folder)) ?? [] where name.hasSuffix(".part") {
            sizes[name] = (try? files.status(at: folder + "/" + name))?.size
        }
        return sizes
    }

    /// The number of files that end in zeros, that is, in room that was taken ahead and not given back.
    private func unfinishedFiles(in folder: String) throws -> Int {
        try sizes(in: folder).keys.filter { try readFile(folder + "/" + $0).suffix(32).allSatisfy { $0 == 0 } }.count
    }

    /// Starts the program of `Tests/KillWorker`, whose executable is beside the tests'.
    private func start(_ directory: String, seed: UInt64) throws -> pid_t {
        let tests = try #require(realpath("/proc/self/exe", nil))
        defer { free(tests) }
        let folder = String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let words = ["\(folder)/kill-worker", directory, "\(seed)", "partial"]
        return try PeerProcess.spawn(words, input: 0, output: 1, errors: 2)
    }

    private func isRunning(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        // WNOWAIT leaves the process to be reaped later.
        let result = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        return result == 0 && information.si_signo == 0
    }

    private func kill(_ process: pid_t) -> Bool {
        send(SIGKILL, to: process)
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 && errno == EINTR {}
        return status & 0x7F == SIGKILL
    }
}
