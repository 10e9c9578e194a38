package import WebImageCore

/// A decoder that keeps the bytes it is given.
package protocol CollectingDecoder: ImageDecoder {
    /// Takes all of the file at once, in place of any ``ImageDecoder/push(_:)``, and keeps it rather than a copy.
    func push(file: [UInt8]) throws(WebImageError) -> DecodeState
}
