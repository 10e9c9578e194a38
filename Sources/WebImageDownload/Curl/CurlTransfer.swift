import CShimCurl
import HTTPTypes
import Synchronization
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One request in libcurl. Any thread may set `isCancelled`; everything else belongs to the loop's thread.
final class CurlTransfer: TransportTransfer, @unchecked Sendable {
    // Sendable: see above; other threads only post commands.
    let request: TransportRequest
    /// Released at the end, because it holds this transfer.
    private var receiver: (any TransportReceiver)?
    private let loop: CurlLoop
    private let cancelled = Atomic(false)

    // Unchecked, here and below: only the loop's thread uses these, and the check would cost time with each line of a
    // head.
    @exclusivity(unchecked) var handle: CurlHandle?
    /// The index among the running transfers.
    @exclusivity(unchecked) var place = 0
    @exclusivity(unchecked) private(set) var isConnected = false
    /// True while the receiver wants no more bytes.
    @exclusivity(unchecked) private var isPaused = false
    /// True while libcurl is paused and holds bytes back.
    @exclusivity(unchecked) private var isHeld = false
    /// True when the receiver was called in this batch.
    @exclusivity(unchecked) private var isTouched = false

    @exclusivity(unchecked) private var headLines: [UInt8] = []
    private var headLineCount = 0
    @exclusivity(unchecked) private(set) var isHeadDelivered = false
    private(set) var isHeadTooLong = false
    /// Whether libcurl was prevented from repeating the request.
    private(set) var isRepeatRefused = false
    /// Undoes the body's coding, if it has one that we know.
    @exclusivity(unchecked) private var decoder: ContentDecoder?
    /// Why the body is refused, from its first byte or in its middle.
    private(set) var bodyRefusal: WebImageError?
    private(set) var refusedAddress: String?
    @exclusivity(unchecked) private(set) var bodyBytes = 0

    init(_ request: TransportRequest, receiver: any TransportReceiver, loop: CurlLoop) {
        self.request = request
        self.receiver = receiver
        self.loop = loop
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        if !cancelled.exchange(true, ordering: .acquiringAndReleasing) { loop.post(.cancel(self)) }
    }

    func pause() { loop.post(.pause(self)) }

    func resume() { loop.post(.resume(self)) }

    // MARK: On the loop's thread

    func setPaused(_ pause: Bool) {
        isPaused = pause
        guard !pause, isHeld, let handle else { return }
        isHeld = false
        // Calls `receiveBody` at once with the bytes that were held back.
        curl_easy_pause(handle.easy, CURLPAUSE_CONT)
    }

    /// Receives one line of a head. Interim answers have heads of their own: each status line begins a new head.
    func receiveHead(_ line: UnsafeRawBufferPointer) -> Int {
        if isCancelled { return 0 }
        if isHeadDelivered { return line.count }  // trailer fields of a chunked body
        if Self.isStatusLine(line) {
            headLines.removeAll(keepingCapacity: true)
            headLineCount = 0
        }
        headLineCount += 1
        guard headLines.count + line.count <= request.headLimit.bytes, headLineCount <= ResponseHead.maxLines else {
            isHeadTooLong = true
            return 0
        }
        if headLines.isEmpty { headLines.reserveCapacity(512) }
        if line.first == 0x20 || line.first == 0x09 { unfoldLastLine() }
        headLines.append(contentsOf: line)
        if line.first == 0x0D || line.first == 0x0A { endHead() }
        return line.count
    }

    /// Delivers a head that is final. libcurl may answer a challenge itself, with another request; that head is delivered
    /// with the body, which only the last answer has.
    private func endHead() {
        guard let easy = handle?.easy else { return }
        let status = wi_curl_number(easy, CURLINFO_RESPONSE_CODE)
        if status >= 200, status != 401, status != 407 { deliverHead() }
    }

    /// The next line begins with a blank: it continues the field before it, and the line break counts as blanks (RFC
    /// 9112 section 5.2).
    private func unfoldLastLine() {
        for place in headLines.indices.suffix(2) where headLines[place] == 0x0D || headLines[place] == 0x0A {
            headLines[place] = 0x20
        }
    }

    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress, line.count >= 5 else { return false }
        return memcmp(start, "HTTP/", 5) == 0
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isCancelled { return 0 }
        if isPaused {
            isHeld = true
            return Int(WI_CURL_PAUSE)
        }
        deliverHead()
        // The receiver may have cancelled or paused at the head.
        if isCancelled || bodyRefusal != nil { return 0 }
        guard let decoder else {
            deliver(bytes)
            return bytes.count
        }
        let outcome = decoder.decode(bytes) { decoded in
            deliver(decoded)
            return !isPaused && !isCancelled
        }
        if isCancelled { return 0 }
        switch outcome {
        case .consumed: return bytes.count
        case .stopped:
            isHeld = true
            return Int(WI_CURL_PAUSE)
        case .broken:
            bodyRefusal = WebImageError(.protocolError, "the body cannot be unpacked as its Content-Encoding says")
            return 0
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        bodyBytes += bytes.count
        touch()
        if receiver?.didReceive(bytes) == .pause { isPaused = true }
    }

    /// Whether a transfer that libcurl reports as complete ends in the middle of a coded body.
    var isCutShort: Bool { decoder?.isWhole == false }

    func becomeReady(_ address: UnsafePointer<CChar>?) -> Bool {
        if isCancelled { return false }
        if request.addressPolicy != nil, !allow(address.map { String(cString: $0) } ?? "") { return false }
        if !isConnected { receiver?.didConnect() }
        // A second request follows the server's challenge, unless libcurl repeats it because the connection was dead:
        // then there is no answer yet.
        if isConnected, headLines.isEmpty, !request.mayRepeat {
            isRepeatRefused = true
            return false
        }
        isConnected = true
        return true
    }

    func allow(_ address: String) -> Bool {
        guard let policy = request.addressPolicy, !policy.allows(address: address) else { return true }
        refusedAddress = address
        return false
    }

    /// Delivers the head when it is final: when it has come whole, at the first byte of the body, or at the end.
    func deliverHead() {
        guard !isHeadDelivered, let easy = handle?.easy, !headLines.isEmpty else { return }
        isHeadDelivered = true
        touch()
        let version: ResponseHead.Version =
            switch wi_curl_number(easy, CURLINFO_HTTP_VERSION) {
            case 1: .http10
            case 3: .http2
            case 30: .http3
            default: .http11
            }
        let address = wi_curl_text(easy, CURLINFO_PRIMARY_IP).map { String(cString: $0) }
        let head = ResponseHead(
            status: wi_curl_number(easy, CURLINFO_RESPONSE_CODE), lines: headLines, version: version,
            remoteAddress: address)
        headLines = []
        receiver?.didReceive(head: head)
        do throws(WebImageError) {
            try refuseTransferCoding(head[.transferEncoding])
            decoder = try ContentDecoder(contentEncoding: head[.contentEncoding])
        } catch {
            bodyRefusal = error
        }
    }

    /// Refuses transfer codings other than `chunked`. libcurl would undo them, although nobody asks for one, and a
    /// paused receiver could not stop it.
    private func refuseTransferCoding(_ field: String?) throws(WebImageError) {
        let codings = (field ?? "").split(separator: ",").map { String($0).trimmingBlanks().lowercased() }
        if codings.allSatisfy(["chunked", "identity"].contains) { return }
        throw WebImageError(
            .protocolError, "the answer has a transfer coding that nobody asked for: \((field ?? "").prefix(32))")
    }

    func endBatch() {
        isTouched = false
        receiver?.didEndBatch()
    }

    func finish(_ result: Result<TransportTimings, WebImageError>) {
        let last = receiver
        receiver = nil
        decoder = nil
        last?.didFinish(result)
    }

    private func touch() {
        guard !isTouched else { return }
        isTouched = true
        loop.noteTouched(self)
    }
}
