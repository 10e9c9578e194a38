extension Array where Element: BitwiseCopyable {
    /// As `withUnsafeBytes(_:)`, but what `body` throws keeps its type.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { elements throws(Failure) in try body(UnsafeRawBufferPointer(elements)) }
    }
}
