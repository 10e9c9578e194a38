import WebImageCache
import WebImageCodecs
import WebImageDownload

/// What is kept of an answer beside its bytes.
enum OriginalMetadata {
    static func make(_ job: BytesJob, _ plan: StorePlan?, header: ImageHeader?) -> DiskMetadata {
        var metadata = DiskMetadata()
        metadata.url = job.key.download.originalURL
        metadata.format = header?.format
        if let response = plan?.storing { metadata.set(response) }
        return metadata
    }
}
