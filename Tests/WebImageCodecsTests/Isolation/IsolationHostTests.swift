import Foundation
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Programs that isolate their decoders, under unusual conditions. The program is `Tests/IsolationHost`, which is built
/// beside the tests.
@Suite(.enabled(if: Workers.areAvailable)) struct IsolationHostTests {
    private func path(of program: String) throws -> String {
        let tests = try #require(realpath("/proc/self/exe", nil))
        defer { free(tests) }
        return String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + program
    }

    /// Runs the program to its end.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended it.
    private func run(_ words: [String]) throws -> Int32 {
        let process = try PeerProcess.spawn([try path(of: "isolation-host")] + words, input: 0, output: 1, errors: 2)
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }

    /// If standard streams are closed, files of a worker could get their numbers. If SIGCHLD is ignored, there are no
    /// children to wait for. A program with 500 MB of memory must not be copied for a worker.
    @Test(arguments: ["plain", "closed", "sigchld", "large"]) func aHostProgramDecodesInUnusualEnvironments(
        mode: String
    ) throws {
        let status = try run([mode])
        #expect(status == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "takes the rights of root")) func aHostProgramDecodesAsUserNobody() throws {
        let status = try run(["nobody"])
        #expect(status == 0)
    }

    /// As a plug-in would do it, whose executable is another program.
    @Test func aHostProgramMayStartWebImageDecoder() throws {
        let decoder = try path(of: "webimage-decoder")
        let (status, withoutDecoder) = (try run(["plain", decoder]), try run(["plain", "/does/not/exist"]))
        #expect(status == 3, "it has no hostile decoder, and answers so")
        #expect(withoutDecoder == 1)
    }

    @Test func theDecoderStartedByHandExitsWithStatus2() throws {
        let process = try PeerProcess.spawn([try path(of: "webimage-decoder")], input: 0, output: 1, errors: 2)
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 && errno == EINTR {}
        #expect(status >> 8 & 0xFF == 2)
    }

    /// When a program is killed, its workers end with it.
    @Test func noWorkerOutlivesItsProgram() throws {
        for _ in 0..<(getenv("WEBIMAGE_SOAK") == nil ? 2 : 1000) { try killAProgram() }
    }

    private func killAProgram() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let host = try PeerProcess.spawn(
            [try path(of: "isolation-host"), "hold"], input: 0, output: ends[1], errors: 2)
        close(ends[1])
        var (text, bytes) = ("", [UInt8](repeating: 0, count: 256))
        while !text.contains("\n") {
            let count = read(ends[0], &bytes, bytes.count)
            guard count > 0 else { break }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        close(ends[0])
        let workers = text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        #expect(!workers.isEmpty)
        for worker in workers {
            #expect(Self.send(0, to: worker) == 0)
            // The workers do not inherit the program's own open file. Looking may not be permitted.
            if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd") {
                #expect(!files.contains("77"))
            }
        }
        #expect(Self.send(SIGKILL, to: host) == 0)
        var status: Int32 = 0
        while waitpid(host, &status, 0) == -1 && errno == EINTR {}
        // The workers receive their signal when the program has gone.
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end, workers.contains(where: { Self.isAlive($0) }) { _ = sched_yield() }
        for worker in workers { #expect(!Self.isAlive(worker)) }
    }

    private static func send(_ signal: Int32, to process: pid_t) -> Int32 { kill(process, signal) }

    /// In a system without a process that reaps orphans, ended workers stay as zombies.
    private static func isAlive(_ process: pid_t) -> Bool {
        guard let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !state.contains(") Z ")
    }
}
