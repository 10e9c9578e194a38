import Foundation
import Synchronization

/// A program that a test runs. It ends with the test, and with the process that runs the test, however that ends.
public final class ChildProgram: Sendable {
    public struct CannotStart: Error, CustomStringConvertible {
        public let description: String
    }

    /// Starts the program of its arguments and ends it when the pipe that it reads from is closed. Then it removes the files whose
    /// paths it was given, one a line. It does not hold open what the program writes to: that is closed when the program ends.
    private static let keeper = #"""
        "$@" & echo "pid $!"; exec >&- 2>&-; read -r line; kill -9 $!
        printf '%s' "$KEEPER_REMOVES" | while IFS= read -r path; do rm -rf "$path"; done
        """#

    /// Behind the last line.
    private static let end = ""

    private let input: FileHandle
    private let lines = EventLog<String>()

    /// - Parameters:
    ///   - program: found as ``RedisServer/find(_:)`` finds it.
    ///   - environment: besides that of this process.
    ///   - leftovers: files and folders that are removed when it has ended.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], leftovers: [String] = []
    ) throws {
        guard let path = RedisServer.find(program) else { throw CannotStart(description: "there is no \(program)") }
        let removed = leftovers.map { $0 + "\n" }.joined()
        let shell = try KeptShell(
            Self.keeper, [path] + arguments, environment: environment.merging(["KEEPER_REMOVES": removed]) { $1 })
        input = shell.input
        Thread.detachNewThread { [lines, output = shell.output] in
            while case let piece = output.availableData, !piece.isEmpty {
                lines.append(String(decoding: piece, as: UTF8.self))
            }
            lines.append(Self.end)
            shell.waitForEnd()
        }
    }

    deinit { stop() }

    /// What it has written.
    public var output: String { lines.events.joined() }

    /// Returns once it has written a text, or has ended.
    ///
    /// - Returns: whether it has written it.
    public func writes(_ text: String) async -> Bool {
        await lines.wait { $0.last == Self.end || $0.joined().contains(text) }
        return output.contains(text)
    }

    /// Ends it at once.
    public func stop() { try? input.close() }

    /// Returns once it has ended.
    public func ended() async { await lines.wait { $0.last == Self.end } }
}
