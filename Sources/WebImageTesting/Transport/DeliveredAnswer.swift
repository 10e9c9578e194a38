import HTTPTypes
import WebImageCore
import WebImageDownload

/// A ``FakeAnswer`` as the receiver of a request gets it, after the checks of the real transport.
struct DeliveredAnswer {
    /// Whether a connection is reported. A transfer that fails without a response reports none.
    var isConnected: Bool
    var head: ResponseHead?
    var body: [UInt8] = []
    var failure: WebImageError?
    let pieceSize: Int
    var holds: [(offset: Int, gate: Gate)]
}

extension FakeAnswer {
    func delivered(to request: TransportRequest) -> DeliveredAnswer {
        var answer = DeliveredAnswer(
            isConnected: head != nil, head: head, failure: failure, pieceSize: pieceSize, holds: holds)
        guard let head else {
            if failure == nil { answer.failure = WebImageError(.connectionLost, "the server has sent no answer") }
            return answer
        }
        let address = head.remoteAddress ?? ""
        if checksAddress, let policy = request.addressPolicy, !policy.allows(address: address) {
            (answer.isConnected, answer.head, answer.holds) = (false, nil, [])
            answer.failure = WebImageError(.addressRefused, "the address policy does not allow \(address)")
            return answer
        }
        if head.byteCount > request.headLimit.bytes {
            answer.head = nil
            answer.failure = WebImageError(
                .protocolError, "the answer's head is longer than \(request.headLimit)")
            return answer
        }
        if request.method != .head, head.status != 304, head.status != 204 { answer.unpack(body) }
        return answer
    }
}

extension DeliveredAnswer {
    /// Sets the body, and undoes its `Content-Encoding`.
    fileprivate mutating func unpack(_ packed: [UInt8]) {
        let decoder: ContentDecoder?
        do throws(WebImageError) {
            decoder = try ContentDecoder(contentEncoding: head?[.contentEncoding])
        } catch {
            failure = error
            return
        }
        guard let decoder else { return body = packed }
        let outcome = packed.withUnsafeBytes { bytes in
            decoder.decode(bytes) { decoded in
                body.append(contentsOf: decoded)
                return true
            }
        }
        if case .broken = outcome {
            failure = WebImageError(.protocolError, "the body cannot be unpacked as its Content-Encoding says")
        } else if failure == nil, !decoder.isWhole {
            failure = WebImageError(.truncatedBody, "the body ends before the end that its Content-Encoding demands")
        }
    }
}

extension ResponseHead {
    /// The length of the head in HTTP/1.1: the status line without a reason, the fields, and an empty line.
    fileprivate var byteCount: Int {
        headers.reduce("HTTP/1.1 200 \r\n\r\n".utf8.count) { count, field in
            count + field.name.rawName.utf8.count + field.value.utf8.count + ": \r\n".utf8.count
        }
    }
}
