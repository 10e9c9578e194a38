import NIOCore
import NIOHTTP1

/// Assembles an answer. A pure value.
struct AnswerReader {
    enum Step {
        case unfinished
        case finished(Answer, isReusable: Bool)
        case failed(S3Error)
    }

    private let isHead: Bool
    private let longestBody: Int
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()

    init(isHead: Bool, longestBody: Int) {
        self.isHead = isHead
        self.longestBody = longestBody
    }

    mutating func read(_ part: HTTPClientResponsePart) -> Step {
        switch part {
        case .head(let head): begin(head)
        case .body(let bytes): append(bytes)
        case .end: finish(isComplete: true)
        }
    }

    private var isError: Bool { head.map { $0.status.code >= 300 } ?? false }

    /// The limit for the body, which is lower for errors.
    private var maxBytes: Int { isError ? ErrorDocument.longest : longestBody }

    private mutating func begin(_ head: HTTPResponseHead) -> Step {
        guard head.status.code >= 200 else { return .failed(.malformed("the status \(head.status.code)")) }
        self.head = head
        guard !isHead, let length = head.headers.first(name: "content-length").flatMap({ Int($0) }) else {
            return .unfinished
        }
        if length > maxBytes, !isError { return .failed(.tooLarge(limit: longestBody)) }
        body.reserveCapacity(min(length, maxBytes))
        return .unfinished
    }

    private mutating func append(_ bytes: ByteBuffer) -> Step {
        guard body.readableBytes + bytes.readableBytes <= maxBytes else {
            guard isError else { return .failed(.tooLarge(limit: longestBody)) }
            return finish(isComplete: false)
        }
        var bytes = bytes
        body.writeBuffer(&bytes)
        return .unfinished
    }

    private func finish(isComplete: Bool) -> Step {
        guard let head else { return .failed(.malformed("no status")) }
        let answer = Answer(status: Int(head.status.code), headers: head.headers, body: body)
        return .finished(answer, isReusable: isComplete && head.isKeepAlive && hasOneLength(head))
    }

    /// Whether the end of the answer is unambiguous (RFC 9112, section 6.3).
    private func hasOneLength(_ head: HTTPResponseHead) -> Bool {
        if isHead || head.status == .noContent || head.status == .notModified { return true }
        return head.headers["content-length"].count + head.headers["transfer-encoding"].count == 1
    }
}
