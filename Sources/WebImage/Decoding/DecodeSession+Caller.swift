import WebImageCore
import WebImageDownload

/// What is so small that the asking task decodes it: 0.1 to 0.5 ms of work, the most of it for a lossy WebP (measured).
enum SmallPicture {
    static let bytes = 32 << 10
    static let pixels = 1 << 16
    /// Of the decode and what is made of it.
    static let memory = 1 << 20
}

extension DecodeGroup {
    /// Whether that little is to be done for one order alone.
    func isSmall(_ header: ImageHeader) -> Bool {
        let isLittle = orders.count <= 1 && memory <= SmallPicture.memory && !orders.contains { $0.recipe.hasSteps }
        let isPlain = !header.isProgressive && header.frameCount == 1 && header.iccProfile == nil
        return isLittle && isPlain && header.size.pixelCount.map { $0 <= SmallPicture.pixels } ?? false
    }
}

/// Small pictures on the thread of the task that asks.
extension DecodeSession {
    /// Whether the asking task decodes: its bytes are few and all there, nobody waits for a thread, and so the threads that decode
    /// are as many as ever. What another session leaves to this one is not its own.
    var beginsHere: Bool {
        guard client.mayDecodeHere, plan.group == nil, case .complete? = reading.log.end,
            reading.log.receivedCount <= SmallPicture.bytes
        else { return false }
        return service.idleThreads.map { $0.idleCount > 0 } ?? false
    }

    /// What ends a run that is too much for the thread of a task.
    func tooLargeForCaller() -> WebImageError {
        hold.place = .tooLargeForCaller
        return WebImageError(.limitExceeded, "the picture is too large for the thread that asks")
    }

    /// Begins anew on a thread for decoders.
    func leaveCaller() {
        hold.place = .ofDecoder
        restart()
        resume()
    }
}
