import CShimCoding
package import WebImageCore

/// Undoes the `Content-Encoding` of a body, and stops in the middle of a piece when its receiver wants no more bytes.
///
/// The transport asks for no coding, because pictures are compressed already, but servers and object stores apply one
/// all the same. libcurl would decode a whole piece of 16 KiB, of which gzip makes up to 16 MiB, and keep in memory
/// what a paused receiver does not take. A decoder belongs to the loop's thread.
package final class ContentDecoder {
    package enum Outcome {
        /// All of the piece was decoded and delivered.
        case consumed
        /// The receiver wants no more. The same piece must be passed again when it does; only its rest is decoded then.
        case stopped
        case broken
    }

    private let coding: OpaquePointer
    /// How many of the bytes that are passed next were decoded before the last stop.
    private var decodedBytes = 0

    /// - Returns: nil if the field names no coding, one that is unknown, or several: such bodies are passed on as they
    ///   are, because their content shows whether they are a picture.
    /// - Throws: `protocolError` if the coding's library is not installed.
    package init?(contentEncoding: String?) throws(WebImageError) {
        guard let contentEncoding, let kind = Self.kind(named: contentEncoding) else { return nil }
        guard let coding = wi_coding_create(kind) else {
            let reason = wi_coding_library_fault(kind).map { String(cString: $0) } ?? "no memory"
            throw WebImageError(.protocolError, "the body is packed as \(contentEncoding.prefix(16)): \(reason)")
        }
        self.coding = coding
    }

    deinit { wi_coding_destroy(coding) }

    /// Whether the bytes so far end where the coded body ends.
    package var isWhole: Bool { wi_coding_is_whole(coding) != 0 }

    /// Decodes a piece and delivers the decoded bytes, up to 64 KiB at a time, until `deliver` returns false.
    package func decode(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) -> Bool) -> Outcome {
        // After a stop, libcurl may divide the piece.
        let skipped = min(decodedBytes, piece.count)
        decodedBytes -= skipped
        var rest = UnsafeRawBufferPointer(rebasing: piece[skipped...])
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { output in
            var (taken, made) = (0, 0)
            repeat {
                let result = wi_coding_decode(
                    coding, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &taken,
                    // An allocation has an address.
                    output.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self), output.count, &made)
                guard result == 0 else { return .broken }
                rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
                let wantsMore = made == 0 || deliver(UnsafeRawBufferPointer(rebasing: output[..<made]))
                if !wantsMore, made == output.count {
                    decodedBytes += piece.count - rest.count
                    return .stopped
                }
            } while made == output.count
            return .consumed
        }
    }

    private static func kind(named field: String) -> wi_coding_kind? {
        switch field.trimmingBlanks().lowercased() {
        case "gzip", "x-gzip": WI_CODING_GZIP
        case "deflate": WI_CODING_DEFLATE
        case "br": WI_CODING_BROTLI
        case "zstd": WI_CODING_ZSTD
        default: nil
        }
    }
}
