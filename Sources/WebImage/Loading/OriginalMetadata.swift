import HTTPTypes
import WebImageCache
import WebImageCore
import WebImageDownload

/// What is kept of an answer beside its bytes, and whether they may be kept at all.
enum OriginalMetadata {
    /// The fields that decide over freshness and conditional requests later (RFC 9111, section 3.1).
    private static let kept: [HTTPField.Name] = [
        .age, .cacheControl, .contentType, .date, .eTag, .expires, .lastModified, .vary,
    ]

    /// Whether the origin lets its answer be stored: not with `no-store` (RFC 9111, section 5.2.2.5), and not when it
    /// varies with something that no key can hold (section 4.1).
    static func mayStore(_ head: ResponseHead?) -> Bool {
        guard let head else { return true }
        if let control = head[.cacheControl], hasDirective("no-store", in: control) { return false }
        return head[.vary].map { !$0.contains("*") } ?? true
    }

    static func make(_ job: BytesJob, _ bytes: OpenedBytes, header: ImageHeader?) -> DiskMetadata {
        var metadata = DiskMetadata()
        metadata.url = job.key.download.originalURL
        metadata.format = header?.format
        guard let head = bytes.log.head else { return metadata }
        metadata.status = head.status
        for name in kept {
            if let value = head[name] { metadata.headers.append(.init(name: name.canonicalName, value: value)) }
        }
        return metadata
    }

    private static func hasDirective(_ name: String, in value: String) -> Bool {
        value.split(separator: ",").contains { part in
            let text = part.drop { $0 == " " || $0 == "\t" }
            return text.prefix { $0 != " " && $0 != "=" && $0 != "\t" }.lowercased() == name
        }
    }
}
