import HTTPTypes
import Synchronization
import WebImage
import WebImageTesting

/// A large picture that is sent over 1.5 times its own decode time: the time from its last byte to the image. Bar: 10 %
/// of the decode time.
enum OverlapBench {
    static func run() async throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 4000, height: 3000))
        try await measure("12 MP baseline JPEG", photo.encoded(as: .jpeg, EncodeOptions(quality: 88)))
        try await measure("12 MP WebP", photo.encoded(as: .webp))
        try await measure("12 MP PNG", noisy.encoded(as: .png, EncodeOptions(compressionLevel: 2)))
    }

    private static func measure(_ name: String, _ bytes: [UInt8]) async throws {
        let server = try OriginServer()
        defer { server.stop() }
        let stamps = FinishStamps()
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration, transport: stamps)
        var (decodes, tails) = ([Double](), [Double]())
        for round in 0..<7 {
            var request = ImageRequest(data: bytes, name: name)
            request.size = nil
            let begin = ContinuousClock.now
            _ = try await manager.image(for: request)
            let decode = ContinuousClock.now - begin
            let path = "/\(round)"
            server.serve(
                path, .bytes(bytes, contentType: "image/*").with(.paced(over: decode * 1.5, pieces: 100)))
            var remote = ImageRequest(server.url(path))
            remote.caching.policy = .noStore
            _ = try await manager.image(for: remote)
            let end = ContinuousClock.now
            guard let last = stamps.last else { continue }
            decodes.append(milliseconds(decode))
            tails.append(milliseconds(end - last))
        }
        let (decode, tail) = (Measure.median(decodes), Measure.median(tails))
        print(
            "\(name), \(ByteCount(bytes.count)): decode \(Measure.text(decode, 1)) ms, last byte to image "
                + "\(Measure.text(tail)) ms, \(Measure.text(tail / decode * 100, 1)) % (median of \(tails.count))")
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}

/// libcurl's transport, which records when the last byte of each transfer was handed over.
private final class FinishStamps: HTTPTransport {
    private let curl = CurlTransport()
    private let stamp = Mutex<ContinuousClock.Instant?>(nil)

    var last: ContinuousClock.Instant? { stamp.withLock { $0 } }

    func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer {
        curl.start(request, receiver: Receiver(receiver, self))
    }

    func shutDown() { curl.shutDown() }

    private final class Receiver: TransportReceiver {
        private let receiver: any TransportReceiver
        private let owner: FinishStamps

        init(_ receiver: any TransportReceiver, _ owner: FinishStamps) {
            self.receiver = receiver
            self.owner = owner
        }

        func didConnect() { receiver.didConnect() }
        func didReceive(head: ResponseHead) { receiver.didReceive(head: head) }
        func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow {
            owner.stamp.withLock { $0 = .now }
            return receiver.didReceive(bytes)
        }
        func didEndBatch() { receiver.didEndBatch() }
        func didFinish(_ result: Result<TransportTimings, WebImageError>) { receiver.didFinish(result) }
    }
}
