import CShimCurl
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Translates libcurl's result codes to our errors.
enum CurlResult {
    static func result(
        _ code: CURLcode, _ handle: CurlHandle, of transfer: CurlTransfer
    ) -> Result<TransportTimings, WebImageError> {
        if transfer.isCancelled { return .failure(.cancelled) }
        if code == CURLE_OK {
            guard transfer.isCutShort else { return .success(timings(handle.easy, of: transfer)) }
            let message = "the body ends before the end that its Content-Encoding demands"
            return .failure(WebImageError(.truncatedBody, message))
        }
        if let refusal = transfer.bodyRefusal { return .failure(refusal) }
        // If a host has several addresses, some may be refused before another one is connected to.
        if !transfer.isConnected, let address = transfer.refusedAddress {
            return .failure(WebImageError(.addressRefused, "the address policy does not allow \(address)"))
        }
        if !transfer.isConnected, code == CURLE_COULDNT_CONNECT,
            let shortage = shortage(handle.hooks.pointee.socket_error)
        {
            return .failure(shortage)
        }
        if transfer.isRepeatRefused {
            let message = "the connection, used before, was dead, and the request may not be sent twice"
            return .failure(WebImageError(.connectionLost, message))
        }
        if transfer.isHeadTooLong {
            let message =
                "the answer's head is longer than \(transfer.request.headLimit) or \(ResponseHead.maxLines) lines"
            return .failure(WebImageError(.protocolError, message))
        }
        if !transfer.isConnected, let refusal = tunnelRefusal(handle.easy) { return .failure(refusal) }
        let complaint = String(cString: handle.complaint)
        let isReused = wi_curl_number(handle.easy, CURLINFO_NUM_CONNECTS) == 0
        let meaning = meaning(
            of: code, complaint: complaint, hasHead: transfer.isHeadDelivered, isReused: isReused)
        let detail = complaint.isEmpty ? String(cString: curl_easy_strerror(code)) : complaint
        return .failure(WebImageError(meaning.code, "\(meaning.message): \(detail)"))
    }

    /// The error of a process that may open no more sockets: it says nothing about the host.
    private static func shortage(_ error: Int32) -> WebImageError? {
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) else { return nil }
        return WebImageError(
            .queueFull,
            "the system opens no more connections (\(String(cString: strerror(error)))); raise the limit of open files "
                + "(ulimit -n), or load less at a time")
    }

    private static func timings(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) -> TransportTimings {
        func time(_ info: CURLINFO) -> Duration { .microseconds(wi_curl_microseconds(easy, info)) }
        var timings = TransportTimings()
        timings.nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        timings.connect = time(CURLINFO_CONNECT_TIME_T)
        timings.secure = time(CURLINFO_APPCONNECT_TIME_T)
        timings.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        timings.total = time(CURLINFO_TOTAL_TIME_T)
        timings.isReused = wi_curl_number(easy, CURLINFO_NUM_CONNECTS) == 0
        timings.bodyBytes = transfer.bodyBytes
        return timings
    }

    /// The status of a proxy that refuses a tunnel to the host means the same as for a URL without TLS.
    private static func tunnelRefusal(_ easy: UnsafeMutableRawPointer) -> WebImageError? {
        let status = wi_curl_number(easy, CURLINFO_HTTP_CONNECTCODE)
        // Some proxies answer a wrong password with 401.
        if status == 407 || status == 401 {
            return WebImageError(
                .authenticationFailed, "the proxy does not accept these credentials", status: status)
        }
        guard status >= 300 else { return nil }
        return WebImageError(.badStatus, "the proxy opens no tunnel to the host: it answered \(status)", status: status)
    }

    private static func meaning(
        of code: CURLcode, complaint: String, hasHead: Bool, isReused: Bool
    ) -> (code: WebImageError.Code, message: String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return (.dnsFailed, "the host's name was not found")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.dnsFailed, "the proxy's name was not found")
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            return (.connectionRefused, "no connection to the host")
        case CURLE_OPERATION_TIMEDOUT:
            return (.connectTimeout, "the host did not answer in time")
        case CURLE_PARTIAL_FILE where hasHead:
            return (.truncatedBody, "the body ended before its announced end")
        case CURLE_URL_MALFORMAT:
            return (.invalidURL, "libcurl cannot take this URL")
        case CURLE_RECV_ERROR where complaint.contains("hunk"):
            return (.protocolError, "the body's chunks are broken")
        case CURLE_RECV_ERROR where hasHead && complaint.contains("unexpected eof"):
            // TLS was closed without its closing message: anyone may have cut the body.
            return (.truncatedBody, "the connection was closed before the body's end was confirmed")
        case CURLE_HTTP2_STREAM:
            return (.connectionLost, "the server cancelled its answer")
        case CURLE_HTTP2:
            // A lost connection is reported as this or as a receive error, depending on its last frames.
            return (.connectionLost, "the HTTP/2 connection broke")
        case CURLE_PROXY:
            return (.connectionRefused, "the proxy does not reach the host")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            return (.connectionLost, "the connection broke")
        case CURLE_UNSUPPORTED_PROTOCOL where isReused:
            // The connection still had bytes of an earlier answer, which was longer than announced. They say nothing
            // about this URL; a new connection has none.
            return (.connectionLost, "the connection still had the end of an earlier answer")
        case CURLE_READ_ERROR where complaint.contains("netrc"):
            return (.authenticationFailed, "the .netrc file cannot be read")
        case _ where code == CURLE_OUT_OF_MEMORY || code.rawValue == tooLarge:
            // libcurl has its own limits for the head, and some versions report them as a lack of memory.
            return (.protocolError, "the answer's head is too long, or memory is short")
        case _ where tlsCodes.contains(code.rawValue):
            return (.tlsFailed, "no secure connection")
        default:
            // "Unsupported protocol" here means HTTP/0.9 or something that is not HTTP; the scheme was checked before.
            return (.protocolError, "the answer is not valid HTTP")
        }
    }

    /// `CURLE_TOO_LARGE`, which the headers of older versions do not have.
    private static let tooLarge: UInt32 = 100

    private static let tlsCodes: Set<UInt32> = Set(
        [
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
        ].map(\.rawValue))
}
