import CShimSystem

/// The two ends of a new pipe, which child processes do not inherit. Its creator must close both.
package struct PipeEnds: Sendable {
    package let reading: Int32
    package let writing: Int32

    /// Nil if the system has none left; `errno` has the reason.
    package init?() {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            bytes.baseAddress.map { wi_pipe($0.assumingMemoryBound(to: Int32.self)) } ?? -1
        }
        guard result == 0 else { return nil }
        (reading, writing) = ends
    }
}
