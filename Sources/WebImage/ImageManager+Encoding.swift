public import WebImageCodecs
public import WebImageCore
import WebImageSystem

extension ImageManager {
    /// Encodes a picture on the manager's decoding threads. Encodes run before decodes that have not begun, so that
    /// finished pictures are sent out before more are loaded.
    ///
    /// - Parameters:
    ///   - image: the picture; all frames of an animation if the format supports animations.
    ///   - format: the format of the bytes.
    ///   - options: quality and the like.
    ///   - priority: the priority among encodes, and compared with loads. Default normal.
    /// - Throws: `cannotEncode`; `cancelled` at once when the task is cancelled. An encode that has begun then ends at
    ///   the next percent of a WebP, frame of an animation or attempt to fit `maxFileSize`, or if it is isolated (AVIF,
    ///   HEIC, JPEG XL; ``Configuration/isolation``) within some 50 ms.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(),
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> [UInt8] {
        var options = options
        let answer = CancellableAnswer<[UInt8]>()
        options.context.idleThreads = loader.decoding.idleThreads
        options.context.checkpoint = { () throws(WebImageError) in if answer.isGiven { throw .cancelled } }
        let coders = loader.decoding.coders
        return try await onDecodeExecutor(priority, answer) { [options] () throws(WebImageError) in
            try image.encoded(as: format, options, coders: coders)
        }
    }
}
