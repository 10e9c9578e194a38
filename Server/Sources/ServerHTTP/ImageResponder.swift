public import Hummingbird
import NIOCore
import HTTPTypes
import WebImage

/// The context that Hummingbird passes with a request: its connection.
public struct ImageContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    let channel: any Channel

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Connects the endpoint to Hummingbird.
public struct ImageResponder: HTTPResponder {
    private static let pieceLength = 32 << 10

    private let endpoint: ImageEndpoint

    public init(endpoint: ImageEndpoint) { self.endpoint = endpoint }

    public func respond(to request: Request, context: ImageContext) async throws -> Response {
        let head = request.head
        let peer = ClientAddress(context.channel.remoteAddress)
        let task = Task { [endpoint] in await endpoint.answer(head, from: peer) }
        let watch = ClientPresence.watch(task, on: context.channel)
        let answer = await task.value
        watch.end()
        return Response(
            status: .init(code: answer.status), headers: answer.fields,
            body: Self.body(answer, context.channel.eventLoop))
    }

    static func body(_ answer: Answer, _ loop: any EventLoop) -> ResponseBody {
        switch answer.body {
        // No content length here: an answer to HEAD or a 304 already states it in its fields.
        case .none: return ResponseBody(contentLength: nil) { try await $0.finish(nil) }
        case .bytes(let bytes) where bytes.count <= pieceLength:
            return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        // Written in pieces: all answers share the bytes, and bytes that a client does not read are not copied for it.
        case .bytes(let bytes):
            return ResponseBody(contentLength: bytes.count) { [share = answer.share] writer in
                defer { withExtendedLifetime(share) {} }
                for piece in pieces(of: bytes) {
                    try await writer.write(ByteBuffer(bytes: piece))
                    try await taken(by: loop)
                }
                try await writer.finish(nil)
            }
        case .stream(let body):
            return ResponseBody(contentLength: body.length) { writer in
                do {
                    for try await chunk in body.bytes {
                        for piece in pieces(of: chunk.bytes) {
                            // Returns when there is room for the next piece.
                            try await writer.write(ByteBuffer(bytes: piece))
                            try await taken(by: loop)
                        }
                        body.hasSent(chunk.bytes.count)
                    }
                    body.ended(nil)
                } catch {
                    body.ended(error)
                    throw error
                }
                try await writer.finish(nil)
            }
        }
    }

    private static func pieces(of bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        stride(from: 0, to: bytes.count, by: pieceLength).lazy.map { bytes[$0..<min($0 + pieceLength, bytes.count)] }
    }

    /// Returns when the event loop has taken what was written. It only then knows whether there is room for more: a
    /// writer that did not wait would queue the whole body while the loop is busy with other clients.
    private static func taken(by loop: any EventLoop) async throws { try await loop.submit {}.get() }
}
