// The Swift snippets of the guide to caching, word for word: see DocumentationSnippets.swift. Nothing here is called.
import FoundationEssentials
import HTTPTypes
import WebImage

// Caching.md
private func keepFinished(manager: ImageManager, request original: ImageRequest, show: (Image) -> Void) async throws {
    var request = original
    request.caching.store = .all
    request.caching.waitsForStore = true
    let thumbnail = try await manager.image(for: request).image
    show(thumbnail)
}

// Caching.md
private func keepApart(folder: String) -> ImageRequest {
    let avatars = ImageCache(configuration: .init(disk: DiskCacheConfiguration(directory: folder)))
    var request = ImageRequest("https://example.com/anna.jpg")
    request.caching.cache = avatars
    return request
}

// Caching.md
private func followARefresh(manager: ImageManager, show: (Image) -> Void) async throws {
    var request = ImageRequest("https://example.com/a.jpg")
    request.caching.policy = .refresh
    for await event in manager.events(for: request) {
        switch event {
        case .cached(let response): show(response.image)
        case .finished(let result): show(try result.get().image)
        default: break
        }
    }
}

// Caching.md
private func sayForWhomAModifierSpeaks(manager: ImageManager) {
    @Sendable func signature(of url: String) -> String { url }
    var signing = RequestModifier.changing(name: "sign") { $0.headers[.authorization] = signature(of: $0.url) }
    signing.credentialScope = "tenant 7"
    manager.downloader.configuration.requestModifier = signing
}

// Caching.md
private func keepMoreFields() {
    var server = ImageManager.Configuration()
    server.keptHeaders = [.contentDisposition, .contentLanguage]
    server.keptHeaders = .all
}

// Caching.md
private func configureCaches() {
    var configuration = ImageManager.Configuration()
    configuration.memoryLimits = .init(cost: .mebibytes(128))
    configuration.disk?.limits.bytes = .mebibytes(500)
    configuration.disk?.limits.age = .seconds(86_400)
    let manager = ImageManager(configuration: configuration)
    _ = manager
}

// Caching.md
private func askTheCachesOnly(manager: ImageManager, show: (Image) -> Void) async throws {
    var request = ImageRequest("https://example.com/a.jpg")
    request.caching.policy = .cacheOnly
    do {
        show(try await manager.image(for: request).image)
    } catch {
        print(error.code == .cacheMiss ? "not there" : "\(error)")
    }
}

// Caching.md
private func shareAnEntry(manager: ImageManager, token: String) async throws {
    var request = ImageRequest("https://example.com/a.jpg?token=\(token)")
    request.caching.key = "https://example.com/a.jpg"
    let response = try await manager.image(for: request)
    _ = response
}

// Caching.md
private func keepPicturesOfOnesOwn(folder: String, avatar: Image, show: (Image) -> Void) async throws {
    let cache = ImageCache(configuration: .init(disk: DiskCacheConfiguration(directory: folder)))
    try await cache.store(avatar, for: "avatar-42")
    if let found = try await cache.image(for: "avatar-42") { show(found.image) }
    let thumbnail = ImageRequest("https://example.com/a.jpg", size: TargetSize(width: 100))
    if try await cache.contains(thumbnail) == .disk { _ = try await cache.image(for: thumbnail) }
    try await cache.remove("avatar-42")
}

// Caching.md
private func joinCaches(bundled: ImageCache, shared: ImageCache) async throws {
    let caches = ImageCaches([bundled, shared])
    caches.policies.query = .concurrent
    let found = try await caches.image(for: "avatar-42")
    _ = found
}

// Caching.md
private func lookAfterTheCaches(manager: ImageManager) async throws {
    if let disk = manager.diskCache {
        print(disk.usage.count, disk.usage.bytes, disk.statistics.hits)
        for entry in try await disk.entries() { print(entry.key?.text ?? "?", entry.path) }
        let report = try await disk.verify()
        print(report.checked, report.bad)
        try await disk.removeExpired()
        try await disk.moveEntries(from: "/var/cache/old-place")
        try await disk.removeAll()
    }
    manager.memoryCache.removeAll()
}
