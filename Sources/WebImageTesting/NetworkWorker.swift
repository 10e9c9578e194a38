import Synchronization
import WebImageSystem

/// Adds a network to the namespace in which it runs, removes it again, and prints what a watch observes. It runs in a
/// process of its own: `unshare --user --map-root-user --net`.
package enum NetworkWorker {
    /// - Parameter ip: the path of the program `ip`.
    package static func run(ip: String) throws {
        func change(_ words: String...) throws { try PeerProcess.run([ip] + words, log: "/dev/null") }
        print("at first \(NetworkWatch.isAvailable)")
        let step = Guarded(Step(isAvailable: true))
        let watch = NetworkWatch {
            let step = step.withLock { $0 }
            if NetworkWatch.isAvailable == step.isAvailable { step.gate.open() }
        }
        guard let watch else { return print("there is no watch") }
        try change("link", "add", "wi0", "type", "veth", "peer", "name", "wi1")
        try change("address", "add", "10.9.8.7/24", "dev", "wi0")
        try change("link", "set", "wi1", "up")
        print("without a link \(NetworkWatch.isAvailable)")
        try change("link", "set", "wi0", "up")
        print("told of its coming \(step.withLock { $0 }.gate.wait(timeout: .seconds(30)))")
        step.withLock { $0 = Step(isAvailable: false) }
        try change("link", "delete", "wi0")
        print("told of its going \(step.withLock { $0 }.gate.wait(timeout: .seconds(30)))")
        withExtendedLifetime(watch) {}
    }

    private struct Step {
        let isAvailable: Bool
        let gate = Gate()
    }
}
