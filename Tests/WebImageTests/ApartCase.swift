import HTTPTypes
import Synchronization
import Testing
import WebImage
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

/// Two users who ask for the same URL and must each get a picture of their own.
enum Asker: String, CaseIterable, Sendable {
    case anna
    case otto

    /// The width of this user's picture.
    var side: Int { self == .anna ? 10 : 20 }
    /// The width of the picture for users that the origin does not know.
    static let strangersSide = 30
}

/// The user who currently uses a manager, with a cookie jar and the path of a netrc file.
final class Session: Sendable {
    private let current: Guarded<Asker>
    let jar = MemoryCookieJar()
    let netrc: String

    init(_ asker: Asker, folder: String) {
        current = Guarded(asker)
        netrc = "\(folder)/netrc"
    }

    var asker: Asker {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    var name: String { asker.rawValue }
}

/// One way in which a request tells the origin which user asks, and the answer of the origin.
struct ApartCase: Sendable, CustomTestStringConvertible {
    typealias Configure = @Sendable (inout DownloadConfiguration, Session) -> Void
    typealias Ask = @Sendable (inout ImageRequest, Session) -> Void
    typealias Login = @Sendable (ImageManager?, Session) -> Void

    let name: String
    var url = "http://pictures.test/me.png"
    /// The fields of the answers that have a picture.
    var answer: HTTPFields = [.cacheControl: "max-age=600"]
    /// The target and the fields of the redirect of `/me.png`, or nil if `/me.png` is the picture.
    var redirect: (@Sendable (_ asker: String) -> (target: String, fields: HTTPFields))?
    /// Configures the manager's downloader before the manager is made.
    var configure: Configure = { _, _ in }
    /// Changes the request itself.
    var ask: Ask = { _, _ in }
    /// Signs in the session's user; the manager is nil while it is still being made.
    var login: Login = { _, _ in }

    var testDescription: String { name }

    /// The request of the session's current user.
    func request(_ session: Session) -> ImageRequest {
        var request = ImageRequest(url)
        ask(&request, session)
        return request
    }
}

extension ApartCase {
    static let cdn = "http://cdn.test/me.png"

    private static let cookies: Ask = { request, _ in request.http.handlesCookies = true }
    private static let apiKey = HTTPField.Name("X-Api-Key")!  // The constant is a valid token.
    private static let trace = HTTPField.Name("traceparent")!  // The constant is a valid token.

    private static func fillingJar(from url: String = "http://pictures.test/") -> Login {
        { _, session in
            session.jar.removeAll()
            session.jar.store(["session=\(session.name); Path=/"], from: url)
        }
    }

    private static let usesJar: Configure = { configuration, session in configuration.cookieJar = session.jar }

    private static func modifying(_ name: HTTPField.Name, _ value: @escaping @Sendable (Session) -> String) -> Configure
    {
        { configuration, session in
            configuration.requestModifier = RequestModifier(name: "session") { request in
                await Task.yield()
                var request = request
                request.headers[name] = value(session)
                return request
            }
        }
    }

    static let cookieCases: [ApartCase] = [
        .init(name: "a jar", configure: usesJar, ask: cookies, login: fillingJar()),
        .init(
            name: "a jar, and Vary: Cookie", answer: [.cacheControl: "max-age=600", .vary: "Cookie"],
            configure: usesJar, ask: cookies, login: fillingJar()),
        .init(
            name: "a jar, and an answer that is public by mistake",
            answer: [.cacheControl: "public, max-age=600", .vary: "Cookie"], configure: usesJar, ask: cookies,
            login: fillingJar()),
        .init(
            name: "a jar for the place where a redirect leads",
            redirect: { _ in (cdn, [:]) }, configure: usesJar, ask: cookies, login: fillingJar(from: cdn)),
        .init(
            name: "a jar that decides where a redirect leads",
            redirect: { ("/\($0).png", [.cacheControl: "max-age=600"]) }, configure: usesJar, ask: cookies,
            login: fillingJar()),
        .init(
            name: "a redirect that Vary: Cookie ties to a request, to a picture that is public",
            answer: [.cacheControl: "public, max-age=600"],
            redirect: { ("/\($0).png", [.cacheControl: "max-age=600", .vary: "Cookie"]) }, configure: usesJar,
            ask: cookies, login: fillingJar()),
        .init(
            name: "a jar of one's own",
            ask: cookies,
            login: { manager, session in
                let jar = MemoryCookieJar()
                jar.store(["session=\(session.name); Path=/"], from: "http://pictures.test/")
                manager?.downloader.configuration.cookieJar = jar
            }),
        .init(
            name: "a Cookie of the request's", ask: { $0.http.headers[.cookie] = "session=\($1.name)" }),
        .init(
            name: "a Cookie of the downloader's, beside a jar",
            ask: cookies,
            login: { manager, session in manager?.downloader[header: .cookie] = "session=\(session.name)" }),
    ]

    static let credentialCases: [ApartCase] = [
        .init(name: "Authorization of the request's", ask: { $0.http.headers[.authorization] = "Bearer \($1.name)" }),
        .init(
            name: "Authorization of the downloader's",
            login: { manager, session in manager?.downloader[header: .authorization] = "Bearer \(session.name)" }),
        .init(
            name: "Authorization of the downloader's, of a request with cookies", ask: cookies,
            login: { manager, session in manager?.downloader[header: .authorization] = "Bearer \(session.name)" }),
        .init(
            name: "user and password",
            ask: { $0.http.credentials = BasicCredentials(user: $1.name, password: "secret") }),
        .init(
            name: "one user, and two passwords",
            ask: { $0.http.credentials = BasicCredentials(user: "user", password: $1.name) }),
        .init(
            name: "a provider of the request's",
            ask: { request, session in
                let name = session.name
                request.http.credentialProvider = .bearer(name: name) { _, _ in name }
            }),
        .init(
            name: "a provider of the downloader's",
            login: { manager, session in
                let name = session.name
                manager?.downloader.configuration.credentialProvider = .bearer(name: name) { _, _ in name }
            }),
        .init(
            name: "a client certificate of the downloader's",
            login: { manager, session in
                let certificate = Array(session.name.utf8)
                manager?.downloader.configuration.tls.clientCertificate = .init(certificate: certificate, key: [1])
            }),
        .init(
            name: "a scope of the request's",
            ask: { request, session in
                let asker = session.asker
                request.http.credentialScope = asker.rawValue
                request.http.requestModifier = RequestModifier(name: "session") { given in
                    var given = given
                    given.headers[.authorization] = "Bearer \(asker.rawValue)"
                    return given
                }
            }),
    ]

    static let modifierCases: [ApartCase] = [
        .init(
            name: "a modifier that sets Authorization",
            configure: modifying(.authorization) { "Bearer \($0.name)" }),
        .init(name: "a modifier that sets a field of its own", configure: modifying(apiKey) { "key \($0.name)" }),
        .init(
            name: "a synchronous modifier that sets a field of its own",
            configure: { configuration, session in
                configuration.requestModifier = .changing(name: "session") {
                    $0.headers[apiKey] = "key \(session.name)"
                }
            }),
        .init(name: "a modifier that sets Cookie", configure: modifying(.cookie) { "session=\($0.name)" }),
        .init(
            name: "a modifier of the request's",
            ask: { request, session in
                let asker = session.asker
                request.http.requestModifier = RequestModifier(name: "session") { given in
                    var given = given
                    given.headers[.authorization] = "Bearer \(asker.rawValue)"
                    return given
                }
            }),
        .init(
            name: "a modifier that works at once",
            configure: { configuration, session in
                configuration.requestModifier = .changing(name: "session") { request in
                    request.headers[.authorization] = "Bearer \(session.name)"
                }
            }),
        .init(
            name: "a modifier that sets a language, and Vary",
            answer: [.cacheControl: "max-age=600", .vary: "Accept-Language"],
            configure: modifying(.acceptLanguage) { $0.name }),
        .init(
            name: "a modifier that sets a language, and Vary of what is public",
            answer: [.cacheControl: "public, max-age=600", .vary: "Accept-Language"],
            configure: modifying(.acceptLanguage) { $0.name }),
        .init(
            name: "a modifier that sets a language, and a redirect that varies",
            redirect: { ("/\($0).png", [.vary: "Accept-Language"]) }, configure: modifying(.acceptLanguage) { $0.name }),
        .init(
            name: "a modifier that sets a secret of one's own",
            configure: { configuration, session in
                modifying(apiKey) { $0.name }(&configuration, session)
                configuration.secretHeaders.insert(apiKey)
            }),
        .init(
            name: "a modifier that sends it elsewhere",
            configure: { configuration, session in
                configuration.requestModifier = RequestModifier(name: "session") { request in
                    var request = request
                    if request.redirects == 0 { request.url = "http://pictures.test/\(session.name).png" }
                    return request
                }
            }),
        .init(
            name: "a modifier with signatures, which says for whom it speaks",
            configure: { configuration, session in
                let number = Guarded(0)
                var modifier = RequestModifier.changing(name: "sign") { request in
                    let number = number.withLock { number in
                        number += 1
                        return number
                    }
                    request.headers[.authorization] = "Signed \(number) \(session.name)"
                    request.headers[trace] = "\(number)"
                }
                modifier.credentialScope = session.name
                configuration.requestModifier = modifier
            },
            login: { manager, session in
                manager?.downloader.configuration.requestModifier?.credentialScope = session.name
            }),
    ]

    static let fileCases: [ApartCase] = [
        .init(
            name: "two .netrc files",
            ask: { request, session in
                request.http.netrcFile = session.netrc + session.name
                try? FileTree.write(Array(session.name.utf8), to: session.netrc + session.name)
            }),
        .init(
            name: "one .netrc file that is written anew",
            ask: { request, session in request.http.netrcFile = session.netrc },
            login: { _, session in try? FileTree.write(Array(session.name.utf8), to: session.netrc) }),
    ]

    /// The user whose name the origin finds in the URL, the credentials, the header fields or the client certificate.
    static func asker(of request: TransportRequest) -> String? {
        var told = [request.url, request.credentials?.user, request.credentials?.password].compactMap { $0 }
        told += request.headers.map(\.value)
        if let certificate = request.tls.clientCertificate?.certificate {
            told.append(String(decoding: certificate, as: UTF8.self))
        }
        if let file = request.netrcFile, let bytes = try? FileTree.read(file) {
            told.append(String(decoding: bytes, as: UTF8.self))
        }
        return Asker.allCases.map(\.rawValue).first { name in told.contains { $0.contains(name) } }
    }

    static let all = cookieCases + credentialCases + modifierCases + fileCases
}
