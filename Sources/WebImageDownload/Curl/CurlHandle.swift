import CShimCurl
import HTTPTypes

/// An easy handle and the memory that libcurl points into while it is used. It serves one transfer after the other and
/// belongs to the loop's thread.
///
/// Setting all options anew costs more than the rest of a small transfer together. A handle therefore remembers what it
/// was set up for: when the next transfer wants exactly the same, only URL and receiver change. Whatever holds a secret
/// or a body is never kept: such a handle is reset before anybody else uses it.
final class CurlHandle {
    /// What may stay set from one transfer to the next.
    struct Setting {
        /// Without its URL.
        private let request: TransportRequest
        private let isSecure: Bool

        /// Nil for a request whose setting must not stay.
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

        /// Whether ``init(of:)`` gives the same for `other`.
        func fits(_ other: borrowing TransportRequest) -> Bool {
            guard other.method == .get, other.isSecure == isSecure, other.headers == request.headers else {
                return false
            }
            if other.sharesRest(with: request) { return true }
            return other.body == nil && other.credentials == nil && other.netrcFile == nil
                && other.allowsHTTP2 == request.allowsHTTP2
                && (other.addressPolicy != nil) == (request.addressPolicy != nil)
                && other.proxy == request.proxy && other.tls == request.tls
        }
    }

    let easy: UnsafeMutableRawPointer
    /// The callbacks and whom they call: all that libcurl is told about a transfer goes through this.
    let hooks = UnsafeMutablePointer<wi_curl_hooks>.allocate(capacity: 1)
    /// Where libcurl says in words what went wrong.
    let complaint = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    /// What it is set up for; nil when nothing is known of it.
    private(set) var setting: Setting?

    /// Nil when there is no memory.
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

    /// Makes it ready for `transfer`. True when it is set up for the like already, so that only the URL must be set.
    func adopt(_ transfer: CurlTransfer) -> Bool {
        hooks.pointee.context = Unmanaged.passUnretained(transfer).toOpaque()
        complaint[0] = 0
        if let setting, setting.fits(transfer.request) { return true }
        forget()
        return false
    }

    /// All options are set, as `request` wants them.
    func noteSetting(of request: TransportRequest) { setting = Setting(of: request) }

    /// For the rest of this transfer: the next one begins with all options anew.
    func decodeNothing() {
        complaint[0] = 0
        setting = nil
        wi_curl_set_number(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    /// Takes the handle from its transfer, which must no longer be called.
    func letGo() {
        hooks.pointee.context = CurlCallbacks.none.context
        if setting == nil { forget() }
    }

    /// Header lines to be sent; libcurl does not copy them.
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
