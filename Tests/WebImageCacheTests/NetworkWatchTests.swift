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

/// Watches a real network that comes and goes, in a namespace of its own. The test is in this folder because the
/// worker's executable is beside these tests.
@Suite struct NetworkWatchTests {
    private static let programs = (unshare: PeerProcess.find("unshare"), ip: PeerProcess.find("ip"))

    /// Whether network namespaces can be made; some containers do not allow them.
    private static let isPossible: Bool = {
        guard let unshare = programs.unshare, programs.ip != nil else { return false }
        return (try? PeerProcess.run([unshare, "--user", "--map-root-user", "--net", "/bin/true"], log: "/dev/null"))
            != nil
    }()

    @Test(.enabled(if: isPossible, "no network namespaces here"))
    func networkAvailabilityChangesAreReported() throws {
        let folder = try Scratch()
        let (unshare, ip) = try (#require(Self.programs.unshare), #require(Self.programs.ip))
        guard let tests = realpath("/proc/self/exe", nil) else { throw WebImageError(.fileNotFound, "no executable") }
        defer { free(tests) }
        let worker = String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/kill-worker"
        let log = folder.path + "/log"
        try PeerProcess.run([unshare, "--user", "--map-root-user", "--net", worker, "network", ip], log: log)
        let text = String(decoding: try readFile(log), as: UTF8.self)
        #expect(
            text == """
                at first false
                without a link false
                told of its coming true
                told of its going true

                """)
    }
}
