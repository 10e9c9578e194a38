import WebImageCore
import WebImageDownload

/// The limits for pictures that the calling task decodes itself: 0.1 to 0.5 ms of work, the most for a lossy WebP
/// (measured).
enum SmallPicture {
    static let bytes = 32 << 10
    static let pixels = 1 << 16
    /// The memory of the decode and its result.
    static let memory = 1 << 20
}

extension DecodeGroup {
    /// Whether this order by itself is small.
    func isSmall(_ header: ImageHeader) -> Bool {
        let isLittle = orders.count <= 1 && memory <= SmallPicture.memory && !orders.contains { $0.recipe.hasSteps }
        let isPlain = !header.isProgressive && header.frameCount == 1 && header.iccProfile == nil
        return isLittle && isPlain && header.size.pixelCount.map { $0 <= SmallPicture.pixels } ?? false
    }
}

/// Decoding small pictures on the thread of the calling task.
extension DecodeSession {
    /// Whether the calling task decodes: the bytes are few and complete, and no work waits for a thread, so that the
    /// number of decoding threads stays the same. Orders that another session leaves to this one do not qualify.
    var beginsHere: Bool {
        guard client.mayDecodeHere, plan.group == nil, case .complete? = reading.log.end,
            reading.log.receivedCount <= SmallPicture.bytes
        else { return false }
        return service.idleThreads.map { $0.idleCount > 0 } ?? false
    }

    /// The error that ends a run that is too long for the thread of a task.
    func tooLargeForCaller() -> WebImageError {
        hold.place = .tooLargeForCaller
        return WebImageError(.limitExceeded, "the picture is too large to be decoded on the calling thread")
    }

    /// Starts again on a decoding thread.
    func leaveCaller() {
        hold.place = .ofDecoder
        restart()
        resume()
    }
}
