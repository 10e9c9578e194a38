import CShimSystem

/// Queries the terminal.
package enum TerminalQuestion {
    /// Returns the terminal's capabilities: the numbers of its answer to DA1, the "primary device attributes" (ECMA-48,
    /// 8.3.24; their meaning: DEC STD 070).
    ///
    /// Blocks the caller until the answer arrives. The terminal's settings are restored afterwards, also if a signal
    /// ends the process meanwhile. Text that a person types meanwhile is lost.
    ///
    /// - Parameters:
    ///   - input: the source of the answer; must be a terminal, else there is no answer.
    ///   - output: the target of the query.
    ///   - milliseconds: how long to wait.
    /// - Returns: nil if no answer arrives in time, or if the process is in the background.
    package static func deviceAttributes(input: Int32, output: Int32, milliseconds: Int) -> [Int]? {
        var answer = [CChar](repeating: 0, count: 128)
        let count = wi_ask_terminal(
            input, output, "\u{1B}[c", CChar(bitPattern: UInt8(ascii: "c")), Int32(clamping: milliseconds), &answer,
            Int32(answer.count))
        guard count >= 0 else { return nil }
        let text = String(decoding: answer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: ";").compactMap { Int($0) }
    }
}
