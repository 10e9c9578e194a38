import CShimSandbox
import WebImageCore

/// A file that a worker reads itself, mapped into memory.
final class FileMapping: @unchecked Sendable {
    // Sendable: nothing changes it.
    let bytes: UnsafeRawBufferPointer

    /// - Parameter descriptor: the open file, which is closed here.
    /// - Throws: `truncatedData` if the file has been shortened; `limitExceeded` if it is longer than the memory of a
    ///   worker; `cannotRead`.
    init(descriptor: Int32, byteCount: Int) throws(WebImageError) {
        var fault: Int32 = 0
        guard let base = wi_worker_map_file(descriptor, byteCount, &fault) else {
            switch Int(fault) {
            case WI_FILE_SHORTENED: throw WebImageError(.truncatedData, "the file is shorter than it was")
            case WI_FILE_TOO_LONG:
                throw WebImageError(
                    .limitExceeded,
                    "the file of \(ByteCount(byteCount)) is longer than the memory of an isolated decoder")
            default: throw WebImageError(.cannotRead, "an isolated decoder could not read the file")
            }
        }
        bytes = UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    deinit { wi_worker_unmap_file(bytes.baseAddress, bytes.count) }
}
