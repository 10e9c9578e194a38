import Testing
import WebImageCache
import WebImageCore
import WebImageDownload

@testable import WebImage

/// One option of a request, changed from its default.
struct OptionChange: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether the changed option can be encoded: it is not a closure, an object or a secret.
    var canBeWritten = true
    let change: @Sendable (inout ImageRequest.Options) -> Void

    var testDescription: String { name }

    init(_ name: String, canBeWritten: Bool = true, _ change: @escaping @Sendable (inout ImageRequest.Options) -> Void)
    {
        (self.name, self.canBeWritten, self.change) = (name, canBeWritten, change)
    }

    static let all = plain + decoding + caching + http

    private static let shown = Fixture.gradient(2, 2)

    private static let plain = [
        OptionChange("size") { $0.size = TargetSize(width: 40, fit: .cover) },
        OptionChange("priority") { $0.priority = .high },
        OptionChange("timeout") { $0.timeout = .milliseconds(1500) },
        OptionChange("retriesFailed") { $0.retriesFailed = true },
        OptionChange("includesData") { $0.includesData = true },
        OptionChange("alternatives") { $0.alternatives = ["http://b.test/a.jpg"] },
        OptionChange("waitsForNetwork") { $0.waitsForNetwork = .seconds(9) },
        OptionChange("fallback", canBeWritten: false) { $0.fallback = shown },
        OptionChange("transformers", canBeWritten: false) { $0.transformers = [Failing()] },
    ]

    private static let decoding = [
        OptionChange("appliesOrientation") { $0.decoding.appliesOrientation = false },
        OptionChange("ignoresOrientation") { $0.decoding.ignoresOrientation = true },
        OptionChange("keepsBitDepth") { $0.decoding.keepsBitDepth = true },
        OptionChange("convertsToSRGB") { $0.decoding.convertsToSRGB = false },
        OptionChange("scalesInLinearLight") { $0.decoding.scalesInLinearLight = true },
        OptionChange("bitmapLimit") { $0.decoding.bitmapLimit = .mebibytes(1) },
        OptionChange("firstFrameOnly") { $0.decoding.firstFrameOnly = true },
        OptionChange("preloadsFrames") { $0.decoding.preloadsFrames = true },
        OptionChange("transformsAnimations") { $0.decoding.transformsAnimations = false },
        OptionChange("transformsVectors") { $0.decoding.transformsVectors = false },
        OptionChange("usesEmbeddedThumbnail") { $0.decoding.usesEmbeddedThumbnail = true },
        OptionChange("frameLimit") { $0.decoding.frameLimit = 3 },
        OptionChange("requiresAnimation") { $0.decoding.requiresAnimation = true },
        OptionChange("page") { $0.decoding.page = 3 },
        OptionChange("formatHint") { $0.decoding.formatHint = .ico },
        OptionChange("allowsPartial") { $0.decoding.allowsPartial = true },
        OptionChange("limits") { $0.decoding.limits.pixels = 1000 },
        OptionChange("coder", canBeWritten: false) { $0.decoding.coder = WhiteCoder() },
    ]

    private static let ownCache = ImageCache()
    private static let serializer = CacheSerializer { _, data, _ in data }

    private static let caching = [
        OptionChange("policy") { $0.caching.policy = .protocol },
        OptionChange("key") { $0.caching.key = "mine" },
        OptionChange("query") { $0.caching.query = .disk },
        OptionChange("store") { $0.caching.store = .all },
        OptionChange("readsOriginal") { $0.caching.readsOriginal = false },
        OptionChange("storesOriginal") { $0.caching.storesOriginal = false },
        OptionChange("waitsForStore") { $0.caching.waitsForStore = true },
        OptionChange("sizePrecision") { $0.caching.sizePrecision = .inexact },
        OptionChange("serializer", canBeWritten: false) { $0.caching.serializer = serializer },
        OptionChange("cache", canBeWritten: false) { $0.caching.cache = ownCache },
        OptionChange("originalCache", canBeWritten: false) { $0.caching.originalCache = ownCache },
    ]

    private static let http = [
        OptionChange("headers") { $0.http.headers[.accept] = "image/png" },
        OptionChange("bodyLimit") { $0.http.bodyLimit = .mebibytes(3) },
        OptionChange("deadlines") { $0.http.deadlines = DownloadDeadlines(connect: .seconds(1), idle: nil) },
        OptionChange("retry") { $0.http.retry = .never },
        OptionChange("redirectLimit") { $0.http.redirectLimit = 0 },
        OptionChange("acceptableStatuses") { $0.http.acceptableStatuses = [404] },
        OptionChange("acceptableContentTypes") { $0.http.acceptableContentTypes = ["image/*"] },
        OptionChange("finishesWhenDrained") { $0.http.finishesWhenDrained = true },
        OptionChange("credentials", canBeWritten: false) {
            $0.http.credentials = BasicCredentials(user: "anna", password: "secret")
        },
        OptionChange("authentication") { $0.http.authentication = .digest },
        OptionChange("credentialProvider", canBeWritten: false) {
            $0.http.credentialProvider = CredentialProvider(name: "anna") { _ in nil }
        },
        OptionChange("netrcFile") { $0.http.netrcFile = "/tmp/netrc" },
        OptionChange("credentialScope") { $0.http.credentialScope = "anna" },
        OptionChange("handlesCookies") { $0.http.handlesCookies = true },
        OptionChange("tls") { $0.http.tls = TLSPolicy(trust: .systemAnd(pem: [1, 2]), pinnedKeys: ["sha256//a"]) },
        OptionChange("trust") { $0.http.trust = .systemAnd(pem: [3]) },
        OptionChange("addressPolicy") { $0.http.addressPolicy = .publicOnly },
        OptionChange("requestModifier", canBeWritten: false) {
            $0.http.requestModifier = .changing(name: "sign") { _ in }
        },
        OptionChange("responseModifier", canBeWritten: false) {
            $0.http.responseModifier = .setting(status: 200)
        },
        OptionChange("decryptor", canBeWritten: false) { $0.http.decryptor = .base64 },
        OptionChange("loader", canBeWritten: false) { $0.http.loader = NoLoader() },
    ]

    private struct NoLoader: ImageLoader {
        let name = "none"

        func canLoad(_ url: String) -> Bool { true }
        func load(_ url: String, to receiver: ImageReceiver) async throws {}
    }
}
