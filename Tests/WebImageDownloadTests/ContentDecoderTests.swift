import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Bodies with a `Content-Encoding` that was not asked for. A few compressed bytes may stand for many.
@Suite struct ContentDecoderTests {
    struct Coded: Sendable, CustomTestStringConvertible {
        let coding: String
        let bytes: [UInt8]
        var testDescription: String { "\(coding), \(bytes.count) bytes" }
    }

    /// 100 000 bytes, compressed with Python's `gzip`, `zlib`, `brotli` and `zstandard`.
    private static let body = [UInt8](String(repeating: "a picture ", count: 10_000).utf8)
    private static let deflated =
        "edc6b10d00200800b057788d18073662f07fdf7068a76674adb967479a" + String(repeating: "99", count: 192) + "d9677b"

    static let all = [
        Coded(coding: "gzip", bytes: hex("1f8b0800000000000203" + deflated + "8bbd3f38a0860100")),
        Coded(coding: "X-GZIP", bytes: hex("1f8b0800000000000203" + deflated + "8bbd3f38a0860100")),
        Coded(coding: "deflate", bytes: hex("78da" + deflated + "aa002d14")),
        Coded(coding: "deflate", bytes: hex(deflated)),
        Coded(coding: "br", bytes: hex("5b9f86815f22ac1a39ac14e84782507e0100")),
        Coded(
            coding: "zstd", bytes: hex("28b52ffda0a0860100950000506120706963747572652001009386cd0b12")),
    ]

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func served(_ coded: Coded, cutBy count: Int = 0) -> OriginResponse {
        .bytes(coded.bytes.dropLast(count), contentType: "image/png").with(header: "Content-Encoding", coded.coding)
    }

    @Test(arguments: all) func aBodyIsUnpacked(_ coded: Coded) async throws {
        let rig = try Rig()
        rig.server.serve("/a", served(coded))
        #expect(await rig.fetch("/a") == (Self.body, "complete"))
    }

    @Test(arguments: all) func aBodyThatIsCutShortIsAnError(_ coded: Coded) async throws {
        let rig = try Rig()
        rig.server.serve("/a", served(coded, cutBy: 1))
        #expect(await rig.fetch("/a").end == "truncatedBody")
    }

    /// With its own decoding, libcurl would decompress all that has arrived during a pause and keep it in memory.
    @Test(arguments: all) func aPausedReceiverGetsTheRestWhenItResumes(_ coded: Coded) async throws {
        let rig = try Rig()
        rig.server.serve("/a", served(coded))
        let transport = CurlTransport()
        defer { transport.shutDown() }
        let receiver = RecordingReceiver { _ in .pause }
        let transfer = transport.start(TransportRequest(url: rig.server.url("/a")), receiver: receiver)
        var received = 0
        while true {
            await receiver.received(received + 1)
            let now = receiver.now
            if now.result != nil { break }
            #expect(now.body.count - received <= 64 << 10)
            received = now.body.count
            transfer.resume()
        }
        let record = await receiver.finish()
        #expect(record.faults == [] && record.result?.name == "ok" && record.body == Self.body)
    }

    /// After a pause libcurl passes the same bytes again, possibly in other pieces.
    @Test(arguments: all, [1, 7, 10_000]) func aStoppedPieceMayBePassedAgainInOtherPieces(_ coded: Coded, size: Int)
        throws
    {
        let decoder = try #require(try ContentDecoder(contentEncoding: coded.coding))
        var body: [UInt8] = []
        let first = coded.bytes.withUnsafeBytes { piece in
            decoder.decode(piece) {
                body += $0
                return false
            }
        }
        #expect(first == .stopped && body.count == 64 << 10)
        var pieces = stride(from: 0, to: coded.bytes.count, by: size).map {
            Array(coded.bytes[$0..<min($0 + size, coded.bytes.count)])
        }
        while let piece = pieces.first {
            let outcome = piece.withUnsafeBytes { piece in
                decoder.decode(piece) {
                    body += $0
                    return false
                }
            }
            try #require(outcome != .broken)
            if outcome == .consumed { pieces.removeFirst() }
        }
        #expect(body == Self.body && decoder.isWhole)
    }

    @Test func bytesAfterGzipAreIgnoredUnlessTheyAreAMember() throws {
        let gzip = Self.all[0].bytes
        for (rest, count) in [([0, 0, 0x1F], 1), (gzip, 2), (gzip + [7], 2)] {
            let decoder = try #require(try ContentDecoder(contentEncoding: "gzip"))
            var body: [UInt8] = []
            for byte in gzip + rest {
                let outcome = [byte].withUnsafeBytes { piece in
                    decoder.decode(piece) {
                        body += $0
                        return true
                    }
                }
                #expect(outcome == .consumed)
            }
            #expect(body.count == count * Self.body.count && decoder.isWhole)
        }
    }

    /// The zstd library took the first bytes after the end for a damaged frame, but only if they came alone. A fuzzer
    /// found it.
    @Test(arguments: ["rest", "a", "\u{28}x", "Pxyz"], [1, 2, 3, 1000])
    func bytesAfterZstandardAreIgnored(_ rest: String, size: Int) throws {
        let decoder = try #require(try ContentDecoder(contentEncoding: "zstd"))
        let bytes = try #require(Self.all.last).bytes + Array(rest.utf8)
        var body: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let outcome = bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                decoder.decode(piece) {
                    body += $0
                    return true
                }
            }
            #expect(outcome == .consumed)
        }
        #expect(body == Self.body && decoder.isWhole)
    }

    /// Debian's zstd also accepts the formats from before the RFC, if their first four bytes come together.
    @Test(arguments: [[0x25, 0xB5, 0x2F, 0xFD], [0x25], [0x28, 0xB5, 0x2E], [0x50, 0x2A, 0x4E]] as [[UInt8]])
    func dataThatIsNotZstandardIsRefusedAtOnce(_ bytes: [UInt8]) throws {
        let decoder = try #require(try ContentDecoder(contentEncoding: "zstd"))
        let outcome = bytes.withUnsafeBytes { decoder.decode($0) { _ in true } }
        #expect(outcome == .broken)
    }

    @Test(arguments: [nil, "", "identity", "none", "gzip, br", "aws-chunked"])
    func unknownCodingsAreNotDecoded(_ field: String?) throws {
        #expect(try ContentDecoder(contentEncoding: field) == nil)
    }

    /// libcurl decodes transfer codings by itself, whatever its options are.
    @Test func aTransferCodingThatNobodyAskedForIsRefused() async throws {
        let rig = try Rig()
        let listener = try LoopbackSocket.listening()
        defer { listener.close() }
        let packed = Self.all[0].bytes
        startThread(named: "test-transfer-coding") {
            guard let client = listener.accept() else { return }
            _ = client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n")
            _ = client.send(packed)
            client.close()
        }
        #expect(await rig.fetch("http://127.0.0.1:\(listener.port)/a").end == "protocolError")
    }
}
