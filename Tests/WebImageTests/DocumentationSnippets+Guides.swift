// The Swift snippets of the guides, word for word: see DocumentationSnippets.swift. Nothing here is called.
import FoundationEssentials
import HTTPTypes
import WebImage

// PicturesInAServer.md
private struct PicturesInAServer {
    func makeManager(cacheDirectory: String) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = DiskCacheConfiguration(directory: cacheDirectory)
        // What is kept is for all users: HTTP's rules for shared caches hold (`private`, `s-maxage`).
        configuration.servesManyUsers = true
        // Requests come from strangers: http and https to public addresses; no file, no data: URL.
        configuration.addressPolicy = .publicOnly
        // A caller waits for ten seconds at most, whatever the origin does.
        configuration.timeout = .seconds(10)
        configuration.limits.pixels = 40 << 20
        return ImageManager(configuration: configuration)
    }

    func thumbnail(of url: String, width: Int, by manager: ImageManager) async throws -> [UInt8] {
        let request = ImageRequest(url) {
            $0.size = TargetSize(width: width)
            $0.decoding.firstFrameOnly = true
        }
        let response = try await manager.image(for: request)
        return try await manager.encode(response.image, as: .jpeg, EncodeOptions(quality: 80))
    }

    func sizes(of upload: [UInt8], by manager: ImageManager) async throws -> [[UInt8]] {
        let request = ImageRequest(data: upload, name: "upload")
        let header = try await manager.details(for: request).header
        guard [.jpeg, .png, .webp, .heic].contains(header.format) else {
            throw WebImageError(.requestRefused, "\(header.format.rawValue) pictures are not taken")
        }
        var files: [[UInt8]] = []
        for width in [1200, 400, 100] {
            var sized = request
            sized.size = TargetSize(width: width)
            sized.decoding.firstFrameOnly = true
            let image = try await manager.image(for: sized).image
            files.append(try await manager.encode(image, as: .jpeg, EncodeOptions(quality: 80)))
        }
        return files
    }

    func status(for error: WebImageError) -> Int {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .addressRefused: 400
        case .badStatus where error.status == 404, .blockedURL where error.status == 404: 404
        case .queueFull: 503
        case .deadlineExceeded: 504
        default: 502
        }
    }

    func serve(_ manager: ImageManager) async throws {
        let service = DrainService(manager: manager, drainTime: .seconds(5))
        try await service.run()
    }
}

// StrangersURLs.md
private struct StrangersURLs {
    func carefulConfiguration() -> ImageManager.Configuration {
        var configuration = ImageManager.Configuration()
        var policy = AddressPolicy.publicOnly
        policy.allowedPorts = [80, 443]
        policy.deniedHosts = ["*.internal.example.com"]
        configuration.addressPolicy = policy
        configuration.download.bodyLimit = .mebibytes(20)
        configuration.download.redirectLimit = 3
        configuration.limits.pixels = 40 << 20
        configuration.limits.time = .seconds(10)
        configuration.timeout = .seconds(15)
        return configuration
    }

    func statements1() {
        let coders = CoderRegistry(reading: [.jpeg, .png, .webp])
        let manager = ImageManager(configuration: carefulConfiguration(), coders: coders)
        _ = manager
    }
}

// ListsAndPrefetching.md
private struct ListsAndPrefetching {
    func load(_ urls: [String], by manager: ImageManager) async {
        let requests = urls.map { ImageRequest($0, size: TargetSize(width: 400)) }
        for await element in manager.images(for: requests) {
            switch element.result {
            case .success(let response): print(element.index, response.image.size)
            case .failure(let error): print(element.index, error)
            }
        }
    }

    func show(_ url: String, by manager: ImageManager, deliver: @escaping @Sendable (ImageEvent) -> Void) -> LoadToken {
        let token = manager.load(ImageRequest(url), onEvent: deliver)
        token.setPriority(.high)
        return token
    }
}

// LoadersAndHooks.md
private struct LoadersAndHooks {
    struct ArchiveLoader: ImageLoader {
        let name = "archive"
        let read: @Sendable (String) throws -> [UInt8]

        func canLoad(_ url: String) -> Bool { url.hasPrefix("archive:") }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            let bytes = try read(String(url.dropFirst("archive:".count)))
            receiver.expect(ByteCount(bytes.count))
            try await receiver.receive(bytes)
        }
    }

    func managerWithArchive(_ read: @escaping @Sendable (String) throws -> [UInt8]) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.download.loaders = [ArchiveLoader(read: read)]
        return ImageManager(configuration: configuration)
    }

    func signing(with key: String, for tenant: String) -> RequestModifier {
        var modifier = RequestModifier.changing(name: "signed") { request in
            request.headers[.authorization] = "Key \(key)"
        }
        modifier.credentialScope = tenant
        return modifier
    }

    func managerWithCache(_ cache: any ImageCaching) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.cache = cache
        return ImageManager(configuration: configuration)
    }

    func managerWithTier(_ tier: any BytesTier) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.tiers = [tier]
        return ImageManager(configuration: configuration)
    }
}

// RetriesAndCredentials.md
private struct RetriesAndCredentials {
    func patient(_ request: inout ImageRequest) {
        request.http.retry = RetryPolicy(retries: 5, firstDelay: .seconds(1), longestDelay: .seconds(30))
        request.timeout = .seconds(120)
    }

    func authorised(_ url: String) -> ImageRequest {
        ImageRequest(url) {
            $0.http.credentials = BasicCredentials(user: "anna", password: "secret")
        }
    }

    func bearer(_ token: @escaping @Sendable () async throws -> String) -> CredentialProvider {
        CredentialProvider(name: "bearer of anna", asksAhead: true) { _ in .bearer(try await token()) }
    }

    func withToken(_ url: String, _ provider: CredentialProvider) -> ImageRequest {
        ImageRequest(url) { $0.http.credentialProvider = provider }
    }

    func signed(_ url: String, for user: String) -> ImageRequest {
        ImageRequest(url) { $0.http.credentialScope = user }
    }
}

// SizingMemoryAndDisk.md
private struct SizingMemoryAndDisk {
    func smallContainer() -> ImageManager.Configuration {
        var configuration = ImageManager.Configuration()
        configuration.memoryLimits = MemoryCache.Limits(cost: .mebibytes(32))
        configuration.decodeMemory = .mebibytes(96)
        configuration.decodeThreads = 1
        configuration.download.memoryForAll = .mebibytes(16)
        configuration.limits.pixels = 16 << 20
        return configuration
    }

    func largeDisk(_ directory: String) -> DiskCacheConfiguration {
        var limits = DiskCacheConfiguration.Limits(bytes: .gibibytes(50), age: .seconds(30 * 86_400))
        limits.freeSpace = .gibibytes(5)
        return DiskCacheConfiguration(directory: directory, limits: limits)
    }
}

// Containers.md
private struct Containers {
    func managerInAContainer() -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = DiskCacheConfiguration(directory: "/var/cache/app/webimage")
        configuration.download.temporaryDirectory = "/var/cache/app"
        return ImageManager(configuration: configuration)
    }
}

// Placeholders.md
private struct Placeholders {
    func placeholders(of url: String, by manager: ImageManager) async throws -> (blur: String, thumb: String) {
        let request = ImageRequest(url) {
            $0.size = TargetSize(width: 100, height: 100)
            $0.decoding.firstFrameOnly = true
        }
        let image = try await manager.image(for: request).image
        let components = image.size.width >= image.size.height ? (x: 4, y: 3) : (x: 3, y: 4)
        return (try BlurHash(of: image, components: components).text, try ThumbHash(of: image).base64)
    }

    func placeholder(blurHash text: String) throws -> Image {
        try BlurHash(text).image(width: 32, height: 32)
    }

    func placeholder(thumbHash text: String) throws -> Image {
        try ThumbHash(base64: text).image()
    }

    func background(for image: Image) throws -> RGBColor {
        let colors = try ImageColors(of: image, count: 3)
        for swatch in colors.palette { print(swatch.color, swatch.share) }
        return colors.dominant ?? .white
    }
}

// Prefetching.md
private struct Prefetching {
    func warmUp(_ urls: [String], in manager: ImageManager) async {
        let prefetcher = ImagePrefetcher(manager: manager)
        let progress = await prefetcher.prefetch(urls).finished()
        print(progress.loaded, progress.skipped, progress.failed)
    }

    func carefulPrefetcher(_ manager: ImageManager) -> ImagePrefetcher {
        var options = PrefetchOptions()
        options.destination = .memory
        options.width = 2
        options.bytesPerSecond = .mebibytes(1)
        options.byteBudget = .mebibytes(50)
        options.onlyWhenIdle = true
        return ImagePrefetcher(manager: manager, options: options)
    }

    func follow(_ requests: [ImageRequest], by prefetcher: ImagePrefetcher) -> PrefetchToken {
        prefetcher.prefetch(requests) { event in
            switch event {
            case .began(let index): print("began", index)
            case .transfer(let index, let progress): print(index, progress.fraction ?? 0)
            case .item(let item, let progress): print(item.index, item.outcome, progress.fraction)
            case .finished(let progress): print("done:", progress.loaded, "loaded,", progress.failed, "failed")
            }
        }
    }

    func preloader(for urls: [String], by prefetcher: ImagePrefetcher) -> ListPreloader {
        ListPreloader(prefetcher: prefetcher) { row in
            [ImageRequest(urls[row], size: TargetSize(width: 160, height: 160, fit: .cover))]
        }
    }

    func didScroll(_ preloader: ListPreloader, to rows: Range<Int>, of count: Int) {
        preloader.show(rows, of: count)
    }
}

// Extending.md
struct AskFirst: ImageInterceptor {
    let isAllowed: @Sendable (String) async -> Bool

    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        var cached = request
        cached.caching.policy = .cacheOnly
        do throws(WebImageError) {
            return try await load(cached)
        } catch {
            guard error.code == .cacheMiss else { throw error }
        }
        guard await isAllowed(request.url) else {
            throw WebImageError(.requestRefused, "downloads are switched off")
        }
        return try await load(request)
    }
}

struct SecondOrigin: ImageInterceptor {
    let first = "https://img1.example.com/"
    let second = "https://img2.example.com/"

    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        do throws(WebImageError) {
            return try await load(request)
        } catch {
            guard request.url.hasPrefix(first), error.code != .cancelled else { throw error }
            return try await load(ImageRequest(second + request.url.dropFirst(first.count)) { $0 = request.options })
        }
    }
}

struct PlainColors: ImageInterceptor {
    let image: Image

    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        try load.answer(with: image)
    }
}

extension RequestPreset {
    static let avatar = RequestPreset {
        $0.size = TargetSize(width: 96, height: 96, fit: .cover)
        $0.transformers = [.crop(.circle)]
    }
}

func avatar(_ url: String, by manager: ImageManager) async throws -> ImageResponse {
    try await manager.image(for: ImageRequest(url, .avatar))
}

private struct Extending {
    func managerWithRules() -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.interceptors = [
            RequestRule { request in
                if request.size == nil { request.size = TargetSize(width: 1024, height: 1024) }
            },
            RequestRule { request in
                request.caching.key = request.url.split(separator: "?").first.map(String.init)
            },
        ]
        return ImageManager(configuration: configuration)
    }

    func smallerWhenMetered(_ isMetered: @escaping @Sendable () -> Bool) -> RequestRule {
        RequestRule { request in
            guard isMetered(), !request.url.contains("?") else { return }
            let options = request.options
            request = ImageRequest(request.url + "?quality=low") { $0 = options }
        }
    }
}

// Transformers.md
private struct Transformers {
    func card(_ url: String, by manager: ImageManager) async throws -> ImageResponse {
        var request = ImageRequest(url)
        request.transformers = [
            .resize(width: 400, height: 300, fit: .cover),
            .saturation(1.2),
            .vignette(strength: 0.5),
            .roundCorners(24),
        ]
        return try await manager.image(for: request)
    }

    func transformers(_ text: String) throws -> [ImageTransform] {
        try ImageTransform.parse(text)
    }

    func inverted() -> ImageTransform {
        .customPixels(id: "inverted") { stretch in
            for index in 0..<stretch.count {
                let pixel = stretch[index]
                stretch[index] = SIMD4(1 - pixel.x, 1 - pixel.y, 1 - pixel.z, pixel.w)
            }
        }
    }
}

// ComingFromKingfisherAndNuke.md
private struct ComingFromKingfisherAndNuke {
    func photo(_ url: String, by manager: ImageManager) async throws -> Image {
        var request = ImageRequest(url, size: TargetSize(width: 320, height: 240, fit: .cover))
        request.priority = .high
        request.transformers = [.roundCorners(12)]
        return try await manager.image(for: request).image
    }
}

// Security.md
func isolatedManager() async -> ImageManager {
    var configuration = ImageManager.Configuration()
    configuration.isolation = .automatic
    let manager = ImageManager(configuration: configuration)
    let report = await manager.prewarmDecoders()
    print(report.state, report.reason ?? "")
    return manager
}
