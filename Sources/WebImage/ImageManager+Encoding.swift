public import WebImageCodecs
public import WebImageCore
import WebImageSystem

extension ImageManager {
    /// The bytes of a picture in a format, made on the decode executor: encodes go before decodes that have not begun, so
    /// that what is loaded leaves again before more is loaded.
    ///
    /// - Parameters:
    ///   - image: all frames of an animation where the format has such.
    ///   - format: of the bytes.
    ///   - options: quality and the like.
    ///   - priority: among encodes, and against more or less urgent loads. Default normal.
    /// - Throws: `cannotEncode`; `cancelled` at once when the task is cancelled. An encode that has begun then runs to its
    ///   end for nothing.
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
