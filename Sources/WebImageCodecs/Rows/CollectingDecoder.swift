package import WebImageCore
package import WebImageSystem

/// A decoder that keeps the bytes that it gets.
package protocol CollectingDecoder: ImageDecoder {
    /// Takes the whole file at once, instead of calls of ``ImageDecoder/push(_:)``, and keeps it without a copy.
    func push(whole file: WholeFile) throws(WebImageError) -> DecodeState
}

/// A decoder that can read a file by itself.
package protocol FileReadingDecoder: CollectingDecoder {
    /// Takes a whole file, instead of calls of ``ImageDecoder/push(_:)``.
    ///
    /// - Throws: `truncatedBody`, here and later, if the file has been shortened.
    func push(file: HeldFile) throws(WebImageError) -> DecodeState
}
