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

#if AVIF || HEIF
    /// A collecting decoder that continues as far as possible whenever bytes have arrived.
    protocol AdvancingDecoder: CollectingDecoder {
        var options: DecodeOptions { get }
        var bytes: CollectedBytes { get }
        var state: DecodeState { get }
        /// The end of the metadata that has not arrived yet, if the decoder has stopped at the header. Default nil.
        var missingMetadataEnd: Int? { get }

        /// Does what the bytes so far allow.
        func advance() throws(WebImageError)
    }

    extension AdvancingDecoder {
        var isOpen: Bool { state == .needsBytes }

        var missingMetadataEnd: Int? { nil }
        /// Cameras and libavif write metadata before the picture, some kilobytes after the start of the file.
        var mayExtendHeader: Bool { missingMetadataEnd.map { $0 <= 64 << 10 } ?? false }
        var mayFindLateMetadata: Bool { missingMetadataEnd != nil }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard isOpen || mayFindLateMetadata else { return state }
            try options.checkpoint?()
            try bytes.append(piece)
            try advance()
            return state
        }

        func push(whole file: WholeFile) throws(WebImageError) -> DecodeState {
            try bytes.take(file)
            try advance()
            return state
        }
    }
#endif
