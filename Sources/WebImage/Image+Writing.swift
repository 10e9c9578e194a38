import WebImageCodecs
public import WebImageCore
import WebImageSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Image {
    /// Writes the picture to a file. An existing file is replaced atomically, and its permissions and owner are kept as
    /// far as the system allows; if it is read-only, this throws `permissionDenied`. A symbolic link is followed. If
    /// `file` is a device or a pipe, the bytes are written into it. Encoding and writing use the library's own threads.
    ///
    /// The encoder runs in this process; the ``ImageManager/Configuration/isolation`` of your manager does not apply.
    /// ``ImageManager/encode(_:as:_:priority:)`` uses it.
    ///
    /// - Parameters:
    ///   - file: a `file` URL.
    ///   - format: the format; nil: the one that the file's extension names.
    ///   - options: quality and the like; by default those of ``/WebImageCodecs/EncodeOptions`` (JPEG and WebP 80, AVIF
    ///     60, PNG lossless).
    /// - Throws: `cannotEncode` when neither `format` nor the name determines a format, `formatNotBuilt` when this
    ///   build cannot write it, `cannotWrite`, `permissionDenied`, `noSpace`, `cancelled`.
    /// - Complexity: memory for the encoded bytes.
    public func write(
        to file: URL, as format: ImageFormat? = nil, _ options: EncodeOptions = EncodeOptions()
    ) async throws(WebImageError) {
        guard file.isFileURL else {
            throw WebImageError(.cannotWrite, "pictures are written to file: URLs", location: redactedURL(file))
        }
        guard let format = format ?? ImageFormat(fileExtension: file.pathExtension) else {
            throw WebImageError(
                .cannotEncode, "the file name has no known extension; give the format with `as:`", location: file.path)
        }
        let bytes = try await StandaloneLoads.manager.encode(self, as: format, options)
        try await StandaloneLoads.manager.loader.ioExecutor.answer(.normal) { () throws(WebImageError) in
            do throws(FileFault) {
                try AtomicFile.write(bytes, to: file.path, isSynchronised: true)
            } catch {
                throw error.outputError("the file cannot be written", at: file.path)
            }
        }
    }

    private func redactedURL(_ url: URL) -> String { ImageRequest(url).redactedURL }
}
