import HTTPTypes
import Synchronization
import Testing
import WebImage
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

/// Random loads by four users, over real sockets, with two managers that share a small disk cache. The origin changes
/// its pictures and fails in many ways. Every delivered picture must be the right one, for the right user, and no older
/// than HTTP allows.
@Suite struct NetworkStormTests {
    @Test func noUserGetsAnotherUsersOrAnOutdatedPicture() async throws {
        let origin = try StormOrigin()
        let folder = try TemporaryFolder()
        let managers = (0..<2).map { _ in
            var configuration = ImageManager.Configuration()
            configuration.disk = DiskCacheConfiguration(directory: folder.path)
            configuration.disk?.limits.bytes = .kibibytes(1500)
            configuration.memoryLimits = .init(cost: .kibibytes(600))
            configuration.download.retry.firstDelay = .milliseconds(5)
            return ImageManager(configuration: configuration)
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<14 {
                let manager = managers[worker % 2]
                group.addTask {
                    for _ in 0..<100 { await StormLoad(origin).run(by: manager) }
                }
            }
        }
        for manager in managers {
            await manager.finishStores()
            #expect(await eventually { manager.runningLoads == 0 })
            #expect(await eventually { manager.downloader.counters.running == 0 })
            #expect(manager.memoryCache.cost <= .kibibytes(600))
            #expect(try #require(manager.diskCache).usage.bytes <= .kibibytes(1500))
        }
        #expect(origin.answered.withLock { $0 } > 400, "too few loads went well to tell anything")
    }
}

/// The identity of a picture: rule, number, user and version.
private struct Subject: Hashable {
    var rule: StormOrigin.Rule
    var number: Int
    var user: Int
    var version: Int

    /// The colour of the picture's upper part. Recoding on disk may change it by a few steps.
    var color: [Int] {
        [StormOrigin.Rule.allCases.firstIndex(of: rule).map { $0 * 20 + 5 } ?? 0, user * 60 + 10, version * 7]
    }
}

/// An origin that serves pictures by rules of caching, changes them, and sometimes fails to send them.
private final class StormOrigin: Sendable {
    enum Rule: String, CaseIterable {
        case brief, long, `private`, authorized, cookie, vary, renewed, ifError, unkept

        var cacheControl: String? {
            switch self {
            case .brief: "max-age=1"
            case .long: "max-age=1000"
            case .private: "private, max-age=5"
            case .authorized, .vary: "max-age=3"
            case .cookie: nil
            case .renewed: "max-age=0, stale-while-revalidate=60"
            case .ifError: "max-age=0, stale-if-error=60"
            case .unkept: "no-store"
            }
        }

        /// The header field that names the user, or nil if all users get the same picture.
        var userField: HTTPField.Name? {
            switch self {
            case .private, .authorized: .authorization
            case .cookie: .cookie
            case .vary: .acceptLanguage
            default: nil
            }
        }
    }

    static let pictures = 12

    private let server: OriginServer
    private let versions = Guarded<[String: Int]>([:])
    private let bodies = Guarded<[Subject: [UInt8]]>([:])
    /// The number of pictures that were delivered and checked.
    let answered = Guarded(0)

    init() throws {
        server = try OriginServer()
        for rule in Rule.allCases {
            server.serve(under: "/\(rule.rawValue)/") { [unowned self] in
                (try? answer($0, rule)) ?? OriginResponse(status: 500)
            }
        }
    }

    func url(_ rule: Rule, _ number: Int) -> String { server.url("/\(rule.rawValue)/\(number)") }
    func version(_ rule: Rule, _ number: Int) -> Int { versions.withLock { $0["\(rule)\(number)"] ?? 0 } }
    func change(_ rule: Rule, _ number: Int) {
        versions.withLock { $0["\(rule)\(number)", default: 0] = min($0["\(rule)\(number)", default: 0] + 1, 36) }
    }

    /// Whether the origin has ever sent these bytes to the user for the picture, in any version.
    func hasSent(_ bytes: [UInt8], _ rule: Rule, _ number: Int, user: Int) -> Bool {
        bodies.withLock { bodies in
            (0...version(rule, number)).contains {
                bodies[Subject(rule: rule, number: number, user: user, version: $0)] == bytes
            }
        }
    }

    private func answer(_ request: RecordedRequest, _ rule: Rule) throws -> OriginResponse {
        let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
        let user = rule.userField.flatMap { request.header($0.rawName)?.last?.wholeNumberValue } ?? 0
        let subject = Subject(rule: rule, number: number, user: user, version: version(rule, number))
        let body = try body(subject)
        var headers = [(name: "ETag", value: "\"\(rule)-\(number)-\(user)-\(subject.version)\"")]
        if let control = rule.cacheControl { headers.append(("Cache-Control", control)) }
        if let field = rule.userField, field != .authorization { headers.append(("Vary", field.rawName)) }
        var response = OriginResponse(headers: headers, body: body)
        let place = OriginResponse.Moment.byte(.random(in: 0..<body.count))
        switch Int.random(in: 0..<24) {
        case 0: response.behaviours = [.cut(at: place)]
        case 1: response.behaviours = [.reset(at: place)]
        case 2: return OriginResponse(status: [404, 429, 500, 503][.random(in: 0..<4)])
        case 3: response.framing = .chunked(size: 1000)
        case 4: response.behaviours = [.paced(over: .milliseconds(30), pieces: 7)]
        case 5: response.behaviours = [.delay(.milliseconds(.random(in: 0..<40)))]
        case 6: (response.framing, response.behaviours) = (.chunked(size: 700), [.cut(at: place)])
        case 7: response.servesRanges = false
        case 8: response.servesConditionals = false
        default: break
        }
        return response
    }

    /// A picture with the subject's colour in its upper part and noise below, which keeps the file large.
    private func body(_ subject: Subject) throws -> [UInt8] {
        if let body = bodies.withLock({ $0[subject] }) { return body }
        let size = PixelSize(width: 40 + subject.number, height: 60)
        let image = try Image(size: size, alpha: .opaque) { bytes in
            for at in bytes.indices {
                let isNoise = at >= size.width * 4 * 40
                bytes[at] = at % 4 == 3 ? 255 : isNoise ? .random(in: 0...255) : UInt8(subject.color[at % 4])
            }
        }
        let made = try image.encoded(
            as: subject.number % 2 == 0 ? .png : .webp, EncodeOptions(isLossless: true))
        return bodies.withLock { bodies in
            let body = bodies[subject] ?? made
            bodies[subject] = body
            return body
        }
    }
}

/// One load of a random picture in a random way.
private struct StormLoad {
    let origin: StormOrigin
    let rule = StormOrigin.Rule.allCases[.random(in: 0..<StormOrigin.Rule.allCases.count)]
    let number = Int.random(in: 0..<StormOrigin.pictures)
    let user: Int
    let request: ImageRequest
    /// The origin's version when the load was made.
    let least: Int

    init(_ origin: StormOrigin) {
        self.origin = origin
        let user = Int.random(in: 0..<4)
        var request = ImageRequest(origin.url(rule, number))
        if let field = rule.userField { request.http.headers[field] = "user \(user)" }
        self.user = rule.userField == nil ? 0 : user
        if Bool.random() { request.size = TargetSize(width: 20) }
        if Int.random(in: 0..<3) == 0 { request.transformers = [.invert] }
        request.caching.policy = CachePolicy.allCases[.random(in: 0..<CachePolicy.allCases.count)]
        if Int.random(in: 0..<5) == 0 { request.caching.store = .all }
        if Int.random(in: 0..<30) == 0 { request.timeout = .milliseconds(.random(in: 1..<40)) }
        request.retriesFailed = Int.random(in: 0..<4) == 0
        request.priority = [.low, .normal, .high][.random(in: 0..<3)]
        self.request = request
        least = origin.version(rule, number)
    }

    func run(by manager: ImageManager) async {
        if let image = manager.cachedImage(for: request) { check(image, isFresh: false) }
        switch Int.random(in: 0..<40) {
        case 0: origin.change(rule, number)
        case 1: try? await manager.cache.remove(request, from: .all)
        case 2: manager.memoryCache.removeAll()
        case 3:
            let task = Task { try await manager.image(for: request) }
            for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
            task.cancel()
            if let image = try? await task.value.image { check(image, isFresh: false) }
        case 4..<10:
            guard let bytes = try? await manager.data(for: request) else { return }
            #expect(origin.hasSent(bytes, rule, number, user: user), "\(self)")
        case 10..<12:
            for await event in manager.events(for: request) {
                switch event {
                case .cached(let response): check(response.image, isFresh: false)
                case .finished(.success(let response)): check(response.image)
                default: break
                }
            }
        default:
            do throws(WebImageError) {
                check(try await manager.image(for: request).image)
            } catch {
                #expect(![.badImageData, .corruptData].contains(error.code), "\(self): \(error)")
            }
        }
    }

    /// Whether the request asks the origin in any case and does not accept an older answer instead.
    private var isAsked: Bool {
        if rule == .unkept { return request.caching.policy != .cacheOnly }
        return [.reload, .reloadFromOrigin, .noStore].contains(request.caching.policy)
            || request.caching.policy == .revalidate && rule != .ifError
    }

    /// - Parameter isFresh: whether the image is the load's final result.
    private func check(_ image: Image, isFresh: Bool = true) {
        origin.answered.withLock { $0 += 1 }
        #expect(image.size.width == (request.size == nil ? 40 + number : 20), "\(self)")
        var color = image.withPixels { bytes in (0..<3).map { Int(bytes[2 * image.pixels.bytesPerRow + 8 + $0]) } }
        if !request.transformers.isEmpty { color = color.map { 255 - $0 } }
        let version = (color[2] + 3) / 7
        let expected = Subject(rule: rule, number: number, user: user, version: version).color
        #expect(zip(color, expected).allSatisfy { abs($0 - $1) <= 3 }, "\(self): \(color)")
        #expect(version <= origin.version(rule, number), "\(self): \(color)")
        if isFresh, isAsked { #expect(version >= least, "\(self): an older picture than there was") }
    }
}
