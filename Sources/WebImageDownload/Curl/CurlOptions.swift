import CShimCurl
import HTTPTypes
import WebImageCore

/// What libcurl is told about a transfer. Its timers, redirects, retries and limits stay off: they are ours.
struct CurlOptions {
    private var trust: TrustFiles

    init(certificateBundle: String?) { trust = TrustFiles(bundle: certificateBundle) }

    func close() { trust.closeAll() }

    /// - Throws: `invalidURL`, `tlsFailed` when the certificates to trust cannot be given to libcurl.
    mutating func apply(to easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) throws(WebImageError) {
        let request = transfer.request
        setCallbacks(of: transfer, on: easy)
        wi_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, transfer.complaint)
        wi_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
        // Else a cancel waits for the resolver's thread, and every other transfer with it.
        wi_curl_set_number(easy, CURLOPT_QUICK_EXIT, 1)
        wi_curl_set_number(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        wi_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        wi_curl_set_number(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Pictures are compressed already. But with this option libcurl undoes what a server compresses unasked.
        wi_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "identity")
        wi_curl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        if wi_curl_set_text(easy, CURLOPT_URL, request.url) != CURLE_OK {
            throw WebImageError(.invalidURL, "libcurl cannot take this URL")
        }
        setMethodAndFields(of: transfer, on: easy)
        let isSecure = request.url.utf8.starts(with: "https:".utf8)
        // Without TLS nothing tells the version before the first answer, for which PIPEWAIT would hold up the others.
        if isSecure, request.allowsHTTP2 {
            wi_curl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            wi_curl_set_number(easy, CURLOPT_PIPEWAIT, 1)
        } else {
            wi_curl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        }
        if let credentials = request.credentials {
            wi_curl_set_text(easy, CURLOPT_USERNAME, credentials.user)
            wi_curl_set_text(easy, CURLOPT_PASSWORD, credentials.password)
        }
        if request.addressPolicy != nil { wi_curl_set_text(easy, CURLOPT_PROXY, "") }
        if isSecure { try setTrust(request.trust, on: easy) }
    }

    private func setMethodAndFields(of transfer: CurlTransfer, on easy: UnsafeMutableRawPointer) {
        let request = transfer.request
        switch request.method {
        case .get: break
        case .head: wi_curl_set_number(easy, CURLOPT_NOBODY, 1)
        default: wi_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        var list: UnsafeMutablePointer<curl_slist>?
        for field in request.fields {
            // libcurl takes "Name:" for "do not send it", "Name;" for an empty value.
            let line = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            // Null means no memory: the field is left out, the list stays valid.
            list = curl_slist_append(list, line) ?? list
        }
        transfer.fieldList = list
        if let list { wi_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list) }
    }

    private mutating func setTrust(_ wanted: TLSTrust, on easy: UnsafeMutableRawPointer) throws(WebImageError) {
        // Debian's libcurl looks into a directory too, which keeps it from caching the parsed bundle.
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

    private func setCallbacks(of transfer: CurlTransfer, on easy: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        transfer.hooks.initialize(
            to: wi_curl_hooks(
                head: { bytes, _, count, context in
                    Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                        $0.receiveHead(UnsafeRawBufferPointer(start: bytes, count: count))
                    }
                },
                body: { bytes, _, count, context in
                    Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                        $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count))
                    }
                },
                ready: { address, context in
                    Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                        $0.becomeReady(address.map { String(cString: $0) }) ? 1 : 0
                    }
                },
                address: transfer.request.addressPolicy == nil
                    ? nil
                    : { address, context in
                        Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                            $0.allow(String(cString: address)) ? 1 : 0
                        }
                    },
                context: context))
        wi_curl_set_hooks(easy, transfer.hooks)
    }
}
