import WebImageCodecs
public import WebImageCore
import WebImageSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Image {
    /// Writes the picture to a file. The file is written atomically, and replaces an older one, whose permissions it
    /// keeps; a symbolic link is followed. A device or a pipe is written to as it is. Encodes and writes on the library's own threads.
    ///
    /// - Parameters:
    ///   - file: a `file` URL.
    ///   - format: the format; nil: the one that the file's extension names.
    ///   - options: quality and the like; by default those of ``/WebImageCodecs/EncodeOptions`` (JPEG and WebP 80, AVIF
    ///     60, PNG lossless).
    /// - Throws: `cannotEncode` when neither `format` nor the name determines a format, `formatNotBuilt` when this
    ///   build cannot write it, `cannotWrite`, `permissionDenied`, `noSpace`.
    /// - Complexity: memory for the encoded bytes.
    public func write(
        to file: URL, as format: ImageFormat? = nil, _ options: EncodeOptions = EncodeOptions()
    ) async throws(WebImageError) {
        guard file.isFileURL else {
            throw WebImageError(.cannotWrite, "pictures are written to file: URLs", location: redactedURL(file))
        }
        guard let format = format ?? ImageFormat(fileExtension: file.pathExtension) else {
            throw WebImageError(
                .cannotEncode, "the file's name tells no format that is known; say one with `as:`", location: file.path)
        }
        let bytes = try await StandaloneLoads.manager.encode(self, as: format, options)
        try await StandaloneLoads.manager.write(Data(bytes), to: file)
    }

    private func redactedURL(_ url: URL) -> String { ImageRequest(url).redactedURL }
}

extension ImageManager {
    fileprivate func write(_ data: Data, to file: URL) async throws(WebImageError) {
        let result = await withCheckedContinuation { continuation in
            loader.ioExecutor.run(.normal) {
                continuation.resume(returning: Result { () throws(WebImageError) in try data.writeWhole(to: file) })
            }
        }
        try result.get()
    }
}

extension Data {
    /// - Parameter mode: who may read and write the file.
    private func replace(_ file: URL, _ mode: Any) throws {
        let folder = file.deletingLastPathComponent()
        let new = folder.appendingPathComponent(".\(UInt64.random(in: 0 ... .max)).part")
        do {
            // For its errors, which tell more than those of the next call.
            try Data().write(to: new, options: .withoutOverwriting)
            // Nobody else reads it while it is written, and its owner may write it, which the older file may forbid.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new.path)
            // In place, so that the permissions stay.
            try write(to: new)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: new.path)
            try PosixFileSystem().rename(new.path, to: file.path)
        } catch {
            try? FileManager.default.removeItem(at: new)
            throw error
        }
    }

    /// Where a link leads to what is not there yet: the link stays.
    private static func target(of link: URL) -> URL {
        var target = link
        // As many as Linux follows.
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else { break }
            target = URL(fileURLWithPath: next, relativeTo: target.deletingLastPathComponent())
        }
        return target
    }

    fileprivate func writeWhole(to file: URL) throws(WebImageError) {
        do {
            let file = file.resolvingSymlinksInPath()
            let older = try? FileManager.default.attributesOfItem(atPath: file.path)
            switch older?[.type] as? FileAttributeType {
            case .typeRegular?: try replace(file, older?[.posixPermissions] ?? 0o600)
            case nil, .typeDirectory?: try write(to: file, options: .atomic)
            case .typeSymbolicLink?: try write(to: Self.target(of: file), options: .atomic)
            // A device or a pipe cannot be replaced by a file.
            default: try write(to: file)
            }
        } catch let error as CocoaError {
            let (code, reason): (WebImageError.Code, String) =
                switch error.code {
                case .fileNoSuchFile, .fileReadNoSuchFile: (.cannotWrite, "there is no such folder")
                case .fileWriteNoPermission, .fileReadNoPermission: (.permissionDenied, "that is not allowed")
                case .fileWriteVolumeReadOnly: (.permissionDenied, "the disk is read-only")
                case .fileWriteOutOfSpace: (.noSpace, "the disk is full")
                case .fileWriteInvalidFileName: (.cannotWrite, "the name is too long or not allowed")
                default: (.cannotWrite, "the system refused")
                }
            throw WebImageError(code, "the file cannot be written: \(reason)", cause: error, location: file.path)
        } catch {
            throw .wrapping(error, as: .cannotWrite, "the file cannot be written").at(file.path)
        }
    }
}
