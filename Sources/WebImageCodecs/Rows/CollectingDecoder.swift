package import WebImageCore
package import WebImageSystem

/// A decoder that keeps the bytes it is given.
package protocol CollectingDecoder: ImageDecoder {
    /// Takes all of the file at once, in place of any ``ImageDecoder/push(_:)``, and keeps it rather than a copy.
    func push(whole file: WholeFile) throws(WebImageError) -> DecodeState
}

/// A decoder that can read a file by itself.
package protocol FileReadingDecoder: CollectingDecoder {
    /// Takes all of a file, in place of any ``ImageDecoder/push(_:)``.
    ///
    /// - Throws: `truncatedBody` also here and later, when somebody has made the file shorter.
    func push(file: HeldFile) throws(WebImageError) -> DecodeState
}
