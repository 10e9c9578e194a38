import CShimCurl
import HTTPTypes
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sets the options of a transfer. libcurl's own timers, redirects, retries and limits stay off: we have our own.
struct CurlOptions {
    private var trust: TrustFiles
    /// Whether the environment names a proxy. If it does not, libcurl is told so: it would look for each variable with
    /// every transfer.
    private let knowsProxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        .contains { (name: String) in getenv(name) != nil }

    init(certificateBundle: String?) { trust = TrustFiles(bundle: certificateBundle) }

    func close() { trust.closeAll() }

    /// - Throws: `invalidURL`; `tlsFailed` if the trusted certificates cannot be passed to libcurl.
    mutating func apply(to handle: CurlHandle, of transfer: CurlTransfer) throws(WebImageError) {
        let isSetUp = handle.adopt(transfer)
        // Implicit conversion to a pointer would copy the string once more.
        let isTaken = transfer.request.url.withCString { wi_curl_set_text(handle.easy, CURLOPT_URL, $0) == CURLE_OK }
        guard isTaken else {
            throw WebImageError(.invalidURL, "libcurl cannot take this URL")
        }
        if !isSetUp { try setAll(on: handle, transfer.request) }
    }

    private mutating func setAll(on handle: CurlHandle, _ request: TransportRequest) throws(WebImageError) {
        let easy = handle.easy
        handle.hooks.pointee.address = request.addressPolicy == nil ? nil : CurlCallbacks.asksForAddresses
        wi_curl_set_hooks(easy, handle.hooks)
        wi_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.complaint)
        wi_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
        // Otherwise a cancel waits for the resolver's thread, and delays every other transfer.
        wi_curl_set_number(easy, CURLOPT_QUICK_EXIT, 1)
        wi_curl_set_number(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        wi_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        wi_curl_set_number(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        wi_curl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, Self.connectTimeout(of: request))
        setMethodAndFields(of: request, on: handle)
        // Without TLS the version is unknown before the first answer, for which PIPEWAIT would delay the other
        // transfers.
        if request.isSecure, request.allowsHTTP2 {
            wi_curl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            wi_curl_set_number(easy, CURLOPT_PIPEWAIT, 1)
        } else {
            wi_curl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        }
        try setCredentials(of: request, on: easy)
        setProxy(of: request, on: easy)
        if request.isSecure { try setTLS(request.tls, on: easy) }
        handle.noteSetting(of: request)
    }

    /// The connect timeout in milliseconds, which libcurl divides among the addresses of a host. It is a second longer
    /// than the deadline, which our own clock enforces.
    private static func connectTimeout(of request: TransportRequest) -> Int {
        guard let timeout = request.connectTimeout, timeout < .seconds(1_000_000) else { return Int(Int32.max) }
        return Int(max(timeout, .zero) / .milliseconds(1)) + 1000
    }

    private func setCredentials(of request: TransportRequest, on easy: UnsafeMutableRawPointer) throws(WebImageError) {
        let (basic, digest) = (1, 2)  // CURLAUTH_BASIC and CURLAUTH_DIGEST, macros with a cast
        if let credentials = request.credentials {
            wi_curl_set_text(easy, CURLOPT_USERNAME, credentials.user)
            wi_curl_set_text(easy, CURLOPT_PASSWORD, credentials.password)
            switch request.authentication {
            case .basic: wi_curl_set_number(easy, CURLOPT_HTTPAUTH, basic)
            case .digest: wi_curl_set_number(easy, CURLOPT_HTTPAUTH, digest)
            case .negotiated: wi_curl_set_number(easy, CURLOPT_HTTPAUTH, basic | digest)
            }
        } else if let file = request.netrcFile {
            // libcurl silently ignores a file that it cannot read.
            guard access(file, R_OK) == 0 else {
                let code: WebImageError.Code =
                    switch errno {
                    case ENOENT, ENOTDIR: .fileNotFound
                    case EACCES, EPERM: .permissionDenied
                    default: .cannotRead
                    }
                throw WebImageError(code, "the file with names and passwords cannot be read", location: file)
            }
            wi_curl_set_text(easy, CURLOPT_NETRC_FILE, file)
            wi_curl_set_number(easy, CURLOPT_NETRC, 1)
        }
    }

    private func setProxy(of request: TransportRequest, on easy: UnsafeMutableRawPointer) {
        guard request.addressPolicy == nil else {
            wi_curl_set_text(easy, CURLOPT_PROXY, "")
            return
        }
        switch request.proxy {
        case .environment where knowsProxies: break
        case .environment, .direct: wi_curl_set_text(easy, CURLOPT_PROXY, "")
        case .server(let url, let credentials, let except):
            wi_curl_set_text(easy, CURLOPT_PROXY, url)
            wi_curl_set_text(easy, CURLOPT_NOPROXY, except.joined(separator: ","))
            if let credentials {
                wi_curl_set_text(easy, CURLOPT_PROXYUSERNAME, credentials.user)
                wi_curl_set_text(easy, CURLOPT_PROXYPASSWORD, credentials.password)
            }
        }
    }

    private func setMethodAndFields(of request: TransportRequest, on handle: CurlHandle) {
        let easy = handle.easy
        switch request.method {
        case .get: break
        case .head: wi_curl_set_number(easy, CURLOPT_NOBODY, 1)
        default: wi_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        // Null from `curl_slist_append` means no memory: the field is left out, the list stays valid.
        var list: UnsafeMutablePointer<curl_slist>?
        if let body = request.body {
            body.withUnsafeBytes { _ = wi_curl_set_body(easy, $0.baseAddress, $0.count) }
            wi_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            // A line without a value keeps libcurl from adding the field.
            list = curl_slist_append(list, "Expect:") ?? list
            if request.headers[.contentType] == nil { list = curl_slist_append(list, "Content-Type:") ?? list }
        }
        if request.headers[.acceptEncoding] == nil {
            list = curl_slist_append(list, "Accept-Encoding: identity") ?? list
        }
        // `HTTPFields` holds each cookie as a field of its own, as in HTTP/2; in HTTP/1.1 there must be one (RFC 9113, 8.2.3).
        if let cookies = request.headers[.cookie] { list = curl_slist_append(list, "Cookie: \(cookies)") ?? list }
        for field in request.headers where field.name != .cookie {
            // libcurl takes "Name:" for "do not send it", "Name;" for an empty value.
            let line = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            list = curl_slist_append(list, line) ?? list
        }
        handle.setFields(list)
    }

    private mutating func setTLS(
        _ policy: TLSPolicy, on easy: UnsafeMutableRawPointer
    ) throws(WebImageError) {
        try setTrust(policy.trust, on: easy)
        if !policy.pinnedKeys.isEmpty {
            let keys = policy.pinnedKeys.sorted().map { $0.hasPrefix("sha256//") ? $0 : "sha256//" + $0 }
            wi_curl_set_text(easy, CURLOPT_PINNEDPUBLICKEY, keys.joined(separator: ";"))
        }
        guard let own = policy.clientCertificate else { return }
        wi_curl_set_text(easy, CURLOPT_SSLCERTTYPE, "PEM")
        wi_curl_set_text(easy, CURLOPT_SSLKEYTYPE, "PEM")
        own.certificate.withUnsafeBytes { _ = wi_curl_set_blob(easy, CURLOPT_SSLCERT_BLOB, $0.baseAddress, $0.count) }
        own.key.withUnsafeBytes { _ = wi_curl_set_blob(easy, CURLOPT_SSLKEY_BLOB, $0.baseAddress, $0.count) }
        if let password = own.password { wi_curl_set_text(easy, CURLOPT_KEYPASSWD, password) }
    }

    private mutating func setTrust(_ wanted: TLSTrust, on easy: UnsafeMutableRawPointer) throws(WebImageError) {
        // Debian's libcurl also reads a directory, which keeps it from caching the parsed bundle.
        wi_curl_set_text(easy, CURLOPT_CAPATH, nil)
        switch wanted {
        case .system:
            if let bundle = trust.systemBundle { wi_curl_set_text(easy, CURLOPT_CAINFO, bundle) }
        case .systemAnd(let pem):
            wi_curl_set_text(easy, CURLOPT_CAINFO, try trust.combinedBundle(with: pem))
        case .anyone:
            wi_curl_set_number(easy, CURLOPT_SSL_VERIFYPEER, 0)
            wi_curl_set_number(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
    }
}
