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
    /// - Throws: `cannotEncode`; `cancelled` at once when the task is cancelled. An encode that has begun then still
    ///   runs to its end.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(),
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> [UInt8] {
        var options = options
        options.helpers = EncodeHelpers(loader.decoding.idleThreads)
        return try await onDecodeExecutor(priority) { [coders, options] () throws(WebImageError) in
            try image.encoded(as: format, options, coders: coders)
        }
    }
}
