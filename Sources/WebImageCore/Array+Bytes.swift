extension Array where Element: BitwiseCopyable {
    /// Calls `body` with the array's bytes, as `withUnsafeBytes(_:)` does, and keeps the type of the error that `body`
    /// throws.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { elements throws(Failure) in try body(UnsafeRawBufferPointer(elements)) }
    }
}
