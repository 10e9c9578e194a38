import CShimCurl
import HTTPTypes

/// An easy handle and the memory that libcurl points into while it is used. It serves one transfer after the other and
/// belongs to the loop's thread.
///
/// Setting all options costs more than the rest of a small transfer. A handle therefore remembers the options that it
/// was set up with: if the next transfer needs exactly the same, only URL and receiver change. Options with a secret or
/// a body are never kept: such a handle is reset before it is used again.
final class CurlHandle {
    /// The options that may stay set from one transfer to the next.
    struct Setting {
        /// The request without its URL.
        private let request: TransportRequest
        private let isSecure: Bool

        /// Nil if the options of the request must not stay set.
        init?(of request: TransportRequest) {
            guard request.method == .get, request.body == nil, request.credentials == nil, request.netrcFile == nil,
                !request.proxy.hasCredentials, request.tls.clientCertificate == nil,
                request.headers[.authorization] == nil, request.headers[.cookie] == nil,
                request.headers[.proxyAuthorization] == nil
            else { return nil }
            isSecure = request.isSecure
            var kept = request
            kept.url = ""
            self.request = kept
        }

        /// Whether ``init(of:)`` returns the same for `other`.
        func fits(_ other: borrowing TransportRequest) -> Bool {
            guard other.method == .get, other.isSecure == isSecure, other.headers == request.headers else {
                return false
            }
            if other.hasSameRest(with: request) { return true }
            return other.body == nil && other.credentials == nil && other.netrcFile == nil
                && other.allowsHTTP2 == request.allowsHTTP2
                && (other.addressPolicy != nil) == (request.addressPolicy != nil)
                && other.proxy == request.proxy && other.tls == request.tls
                && other.connectTimeout == request.connectTimeout
        }
    }

    let easy: UnsafeMutableRawPointer
    /// The callbacks and their context: libcurl's only reference to the transfer.
    let hooks = UnsafeMutablePointer<wi_curl_hooks>.allocate(capacity: 1)
    /// The buffer for libcurl's error messages.
    let complaint = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    /// The options that it is set up with; nil if they are unknown.
    private(set) var setting: Setting?

    /// Nil if memory is exhausted.
    init?() {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        hooks.initialize(to: CurlCallbacks.none)
        complaint.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(fieldList)
        hooks.deallocate()
        complaint.deallocate()
    }

    /// Prepares the handle for `transfer`. Returns true if it has the right options already, so that only the URL must
    /// be set.
    func adopt(_ transfer: CurlTransfer) -> Bool {
        hooks.pointee.context = Unmanaged.passUnretained(transfer).toOpaque()
        hooks.pointee.socket_error = 0
        complaint[0] = 0
        if let setting, setting.fits(transfer.request) { return true }
        forget()
        return false
    }

    /// Records that all options are set as `request` demands.
    func noteSetting(of request: TransportRequest) { setting = Setting(of: request) }

    /// Detaches the handle from its transfer, which must no longer be called.
    func release() {
        hooks.pointee.context = CurlCallbacks.none.context
        if setting == nil { forget() }
    }

    /// Sets the header lines to send; libcurl does not copy them.
    func setFields(_ list: UnsafeMutablePointer<curl_slist>?) {
        fieldList = list
        if let list { wi_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list) }
    }

    private func forget() {
        setting = nil
        curl_easy_reset(easy)
        curl_slist_free_all(fieldList)
        fieldList = nil
    }
}
