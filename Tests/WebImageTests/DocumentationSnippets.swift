// The Swift snippets of README and of the documentation catalogue, word for word, so that they cannot rot: this file
// compiles, and scripts/check-parity looks whether every snippet stands in it. Nothing here is called.
import FoundationEssentials
import WebImage
import WebImageTesting

// MARK: README.md

// README.md
private func readme() async {
    let manager = ImageManager()
    var request = ImageRequest("https://example.com/a.jpg")
    request.size = TargetSize(width: 400, height: 300)
    do {
        let response = try await manager.image(for: request)
        print(response.image.size, response.source)
    } catch {
        print(error)
    }
}

// MARK: WebImage.md

// WebImage.md
private func landingPage() async throws {
    let manager = ImageManager()
    let response = try await manager.image(for: ImageRequest("https://example.com/a.jpg"))
    print(response.image.size, response.source)
}

// MARK: GettingStarted.md

// GettingStarted.md
private func loadAPicture() async throws {
    let manager = ImageManager()
    let response = try await manager.image(for: "https://example.com/a.jpg")
    print(response.image.size, response.source)
}

// GettingStarted.md
private func askForASize(manager: ImageManager) async throws {
    var request = ImageRequest("https://example.com/a.jpg")
    request.size = TargetSize(width: 400, height: 300, fit: .cover)
    let thumbnail = try await manager.image(for: request).image
    _ = thumbnail
}

// GettingStarted.md
private func sayMore() -> ImageRequest {
    let wide = ImageRequest("https://example.com/a.jpg") {
        $0.size = TargetSize(width: 1200)
        $0.priority = .high
        $0.decoding.keepsBitDepth = true
        $0.caching.policy = .protocol
        $0.http.headers[.acceptLanguage] = "de"
    }
    return wide
}

// GettingStarted.md
private func showWhatIsInMemory(manager: ImageManager, request: ImageRequest, show: (Image) -> Void) async throws {
    if let image = manager.cachedImage(for: request) {
        show(image)
    } else {
        show(try await manager.image(for: request).image)
    }
}

// GettingStarted.md
private func followALoad(manager: ImageManager, request: ImageRequest, show: (Image) -> Void) async throws {
    for await event in manager.events(for: request) {
        switch event {
        case .progress(let progress): print(progress.received, progress.fraction ?? 0)
        case .preview(let image): show(image)
        case .cached(let response): show(response.image)
        case .finished(let result): show(try result.get().image)
        }
    }
}

// GettingStarted.md
private func loadByClosure(
    manager: ImageManager, request: ImageRequest,
    deliver: @escaping @Sendable (Result<ImageResponse, WebImageError>) -> Void
) {
    let token = manager.load(request) { event in
        if case .finished(let result) = event { deliver(result) }
    }
    token.setPriority(.high)
    token.cancel()
}

// GettingStarted.md
private func handleErrors(manager: ImageManager, request: ImageRequest, show: (Image) -> Void) async {
    do {
        show(try await manager.image(for: request).image)
    } catch {
        switch error.code {
        case .cancelled: break
        case .badStatus: print("the server answered \(error.status ?? 0)")
        case .badImageData: print("no picture: \(error.cause ?? error)")
        default: print(error)
        }
    }
}

// GettingStarted.md
private func sendCredentials(manager: ImageManager, password: String) async throws {
    var request = ImageRequest("https://example.com/private/a.jpg")
    request.http.headers[.acceptLanguage] = "de"
    request.http.credentials = BasicCredentials(user: "ada", password: password)
    let response = try await manager.image(for: request)
    _ = response
}

// GettingStarted.md
private func decodeAndWriteBytes(bytes: [UInt8]) async throws {
    let image = try await Image(data: bytes, size: TargetSize(width: 800))
    let jpeg = try image.encoded(as: .jpeg, EncodeOptions(quality: 85))
    _ = jpeg
}

// GettingStarted.md
private func changeAPicture(image: Image, file: URL) async throws {
    let square = try image.resized(to: TargetSize(width: 96, height: 96, fit: .cover))
    try await square.rounded(radius: .infinity).write(to: file)
    let part = try image.cropped(to: PixelRect(x: 0, y: 0, width: 200, height: 100))
    _ = part
}

// GettingStarted.md
private func sayItOnce() {
    var configuration = ImageManager.Configuration()
    configuration.limits.pixels = 40 << 20
    configuration.timeout = .seconds(20)
    configuration.addressPolicy = .publicOnly
    configuration.download.deadlines.firstByte = .seconds(5)
    let manager = ImageManager(configuration: configuration)
    _ = manager
}

// GettingStarted.md
private func testWithoutANetwork(jpeg: [UInt8]) async throws {
    let transport = FakeTransport()
    transport.answer("https://example.com/a.jpg", .bytes(jpeg, contentType: "image/jpeg"))
    var configuration = ImageManager.Configuration()
    configuration.disk = nil
    let manager = ImageManager(configuration: configuration, transport: transport)
    let response = try await manager.image(for: ImageRequest("https://example.com/a.jpg"))
    _ = response
}

// MARK: TheWayOfARequest.md

// TheWayOfARequest.md
private func shareATransfer(manager: ImageManager) async throws {
    let requests = [200, 800, 1600].map { width in
        var request = ImageRequest("https://example.com/a.jpg")
        request.size = TargetSize(width: width)
        return request
    }
    try await withThrowingTaskGroup(of: ImageResponse.self) { group in
        for request in requests {
            group.addTask { try await manager.image(for: request) }
        }
        for try await response in group { print(response.image.size) }
    }
}

// TheWayOfARequest.md
private func changeUrgency(manager: ImageManager) {
    var request = ImageRequest("https://example.com/next-page.jpg")
    request.priority = .low
    let token = manager.load(request) { _ in }
    token.setPriority(.high)
    manager.downloader.setLimits(maxConcurrent: 12, maxConcurrentPerHost: 4)
}

// TheWayOfARequest.md
private func takeAPart(manager: ImageManager, request original: ImageRequest) async throws {
    var request = original
    request.decoding.allowsPartial = true
    let response = try await manager.image(for: request)
    if let error = response.partialError { print("only a part:", error) }
    _ = response
}

// TheWayOfARequest.md
private func readTimings(manager: ImageManager, request: ImageRequest) async throws {
    let response = try await manager.image(for: request)
    print(response.source, response.timings.firstByte ?? .zero, response.timings.total ?? .zero)
}

// TheWayOfARequest.md
private func endInOrder(manager: ImageManager) async {
    await manager.finishStores()
    manager.shutDown()
}

// MARK: FormatsAndLimits.md

// FormatsAndLimits.md
private func tellWhatAFileIs(manager: ImageManager) async throws {
    let details = try await manager.details(for: ImageRequest("https://example.com/a.jpg"))
    print(details.header.format.rawValue, details.header.displaySize, details.header.isProgressive)
}

// FormatsAndLimits.md
private func tellWhatACameraSays(details: ImageDetails) {
    if let photo = details.header.metadata.photo {
        print(photo.date?.description ?? "", photo.cameraModel ?? "", photo.place?.latitude ?? 0)
    }
}

// FormatsAndLimits.md
private func chooseASize(request original: ImageRequest) {
    var request = original
    request.size = TargetSize(width: 400)
    request.size = TargetSize(width: 400, height: 400, fit: .cover, upscale: true)
    request.decoding.bitmapLimit = .mebibytes(8)
    _ = request
}

// FormatsAndLimits.md
private func keepWhatIsStored(manager: ImageManager, request original: ImageRequest) async throws {
    var request = original
    request.decoding.appliesOrientation = false
    request.decoding.convertsToSRGB = false
    request.decoding.keepsBitDepth = true
    let image = try await manager.image(for: request).image
    print(image.info.orientation, image.info.iccProfile?.count ?? 0, image.layout.bitDepth)
}

// FormatsAndLimits.md
private func readPixels(image: Image) {
    let sum = image.withPixels { pixels in pixels.reduce(0) { $0 + Int($1) } }
    let rowLength = image.pixels.bytesPerRow
    _ = (sum, rowLength)
}

// FormatsAndLimits.md
private func writeAPicture(manager: ImageManager, image: Image) async throws {
    let png = try await manager.encode(image, as: .png)
    let jpeg = try await manager.encode(image, as: .jpeg, EncodeOptions(quality: 85, progressive: true))
    _ = (png, jpeg)
}

// FormatsAndLimits.md
private func transformPictures(request original: ImageRequest) {
    var request = original
    struct Inverted: ImageTransformer {
        let key = "inverted"

        func transform(_ image: Image) throws(WebImageError) -> Image {
            guard image.layout == .rgba8 else { throw WebImageError(.transformFailed, "only 8 bits a channel") }
            return try Image(size: image.size, alpha: image.alpha) { output in
                image.withPixels { input in
                    for index in input.indices { output[index] = index % 4 == 3 ? input[index] : 255 - input[index] }
                }
            }
        }
    }
    request.transformers = [Inverted()]
    _ = request
}

// FormatsAndLimits.md
private func chooseCoders() {
    let coders = CoderRegistry(reading: [.jpeg, .png])
    let manager = ImageManager(coders: coders)
    _ = manager
}

// FormatsAndLimits.md
private func playFrames(_ manager: ImageManager) async throws {
    let image = try await manager.image(for: ImageRequest("https://example.com/a.gif")).image
    if let animation = image.animation {
        print(animation.frameCount, animation.loopCount ?? 1, animation.duration)
        for index in 0..<animation.frameCount {
            let frame = try await animation.frame(at: index)
            print(frame.size, animation.delays[index])
        }
    }
}

// FormatsAndLimits.md
private func writeFramesOneByOne(animation: ImageAnimation, send: ([UInt8]) -> Void) async throws {
    let coder = try CoderRegistry.standard.encoder(for: .webp)
    let description = AnimationDescription(size: PixelSize(width: 100, height: 80), loopCount: animation.loopCount)
    if let encoder = try coder.makeAnimationEncoder(.webp, description, EncodeOptions(quality: 80)) {
        for index in 0..<animation.frameCount {
            let part = PixelRect(x: 10, y: 10, width: 100, height: 80)
            let frame = try await animation.frame(at: index).cropped(to: part)
            try encoder.add(frame, delay: animation.delays[index] / 2)
        }
        send(try encoder.finish())
    }
}

// FormatsAndLimits.md
private func bringACoder() {
    var request = ImageRequest("https://example.com/upload.png")
    struct TextureCoder: WholeImageCoder {
        let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "texture")]

        func decode(_ bytes: [UInt8], _ options: DecodeOptions) throws(WebImageError) -> Image {
            guard bytes.count == 64 * 64 * 4 else { throw WebImageError(.corruptData, "a texture has 16384 bytes") }
            return try Image(size: PixelSize(width: 64, height: 64)) { $0.copyBytes(from: bytes) }
        }
    }
    request.decoding.coder = TextureCoder()
    _ = request
}

// FormatsAndLimits.md
private struct LimitsOfARequest {
    func request(for url: String, like configuration: ImageManager.Configuration) -> ImageRequest {
        var request = ImageRequest(url)
        request.decoding.limits = configuration.limits
        request.decoding.limits.pixels = 8 << 20
        return request
    }
}

// FormatsAndLimits.md
private func lowerLimits() {
    var request = ImageRequest("https://example.com/upload.png")
    request.decoding.limits.pixels = 24_000_000
    request.decoding.limits.time = .seconds(5)
    request.http.bodyLimit = .mebibytes(8)
    request.timeout = .seconds(20)
    _ = request
}

// TheWayOfARequest.md
private func bytesWithoutAPicture(manager: ImageManager, send: ([UInt8]) -> Void) async throws {
    let file = try await manager.data(for: ImageRequest("https://example.com/a.jpg"))

    // As they come, for a program that hands them on.
    let stream = try await manager.bytes(for: ImageRequest("https://example.com/b.jpg"))
    for try await piece in stream { send(piece.bytes) }

    // Onto the disk, for later.
    let kept = try await manager.keepOriginal(for: ImageRequest("https://example.com/c.jpg"))
    print(kept.header.size, file.count)
}

// MARK: ComingFromSDWebImage.md

// ComingFromSDWebImage.md
private func theSameLoadHere(manager: ImageManager) async throws {
    var request = ImageRequest("https://example.com/a.jpg")
    request.size = TargetSize(width: 400, height: 300)
    request.priority = .high
    let response = try await manager.image(for: request)
    _ = response
}
