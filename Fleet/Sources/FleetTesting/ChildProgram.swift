import Foundation
import Synchronization

/// A program that a test runs. It is ended with the test, and with the process that runs the test, however that ends.
public final class ChildProgram: Sendable {
    public struct CannotStart: Error, CustomStringConvertible {
        public let description: String
    }

    /// A shell script that starts the program in its arguments, and ends it when the script's standard input is closed.
    /// It then removes the files whose paths are in `KEEPER_REMOVES`, one on each line. It closes its own copy of the
    /// output pipe, so that the pipe is closed when the program ends.
    private static let keeper = #"""
        "$@" & echo "pid $!"; exec >&- 2>&-; read -r line; kill -9 $!
        printf '%s' "$KEEPER_REMOVES" | while IFS= read -r path; do rm -rf "$path"; done
        """#

    /// The event that marks the end of the output.
    private static let end = ""

    private let input: FileHandle
    private let lines = EventLog<String>()

    /// - Parameters:
    ///   - program: an absolute path, or a name that ``RedisServer/find(_:)`` looks up in `PATH`.
    ///   - environment: variables that are added to those of this process.
    ///   - leftovers: files and folders that are removed when the program has ended.
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

    /// The program's output until now.
    public var output: String { lines.events.joined() }

    /// Returns when the program has written a text, or has ended.
    ///
    /// - Returns: whether the program has written the text.
    public func writes(_ text: String) async -> Bool {
        await lines.wait { $0.last == Self.end || $0.joined().contains(text) }
        return output.contains(text)
    }

    /// Ends the program at once.
    public func stop() { try? input.close() }

    /// Returns when the program has ended.
    public func ended() async { await lines.wait { $0.last == Self.end } }
}
