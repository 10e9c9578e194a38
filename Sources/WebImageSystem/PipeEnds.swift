import CShimSystem

/// The two ends of a new pipe, which no child process inherits. Whoever makes one closes both.
package struct PipeEnds: Sendable {
    package let reading: Int32
    package let writing: Int32

    /// Nil when the system gives no more; `errno` says why.
    package init?() {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            bytes.baseAddress.map { wi_pipe($0.assumingMemoryBound(to: Int32.self)) } ?? -1
        }
        guard result == 0 else { return nil }
        (reading, writing) = ends
    }
}
