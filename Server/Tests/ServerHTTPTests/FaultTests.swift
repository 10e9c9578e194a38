import Foundation
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// A fault of an origin gives a status, ends in time, and holds up no other request.
@Suite struct FaultTests {
    private static let limits = [
        "IMGPROXY_DOWNLOAD_TIMEOUT": "1", "IMGPROXY_TIMEOUT": "3", "IMGPROXY_MAX_SRC_FILE_SIZE": "1000000",
    ]

    /// A gzip file that unpacks to `count` bytes, some five hundred times its size. It is one block with the fixed
    /// code, which repeats one byte 258 times with each match (RFC 1951).
    private func gzipBomb(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var (bits, waiting) = (0, 0)
        // Codes are written from their highest bit, numbers from their lowest.
        func put(_ code: Int, _ length: Int, isCode: Bool = true) {
            for bit in 0..<length {
                waiting |= (code >> (isCode ? length - 1 - bit : bit) & 1) << bits
                bits += 1
                if bits == 8 {
                    bytes.append(UInt8(waiting))
                    (bits, waiting) = (0, 0)
                }
            }
        }
        put(1, 1, isCode: false)
        put(1, 2, isCode: false)
        put(0b0011_0000, 8)
        for _ in 0..<(count / 258) {
            put(0b1100_0101, 8)
            put(0, 5)
        }
        put(0, 7)
        return bytes + [0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    @Test func aFaultyOriginDoesNotAffectOtherRequests() async throws {
        // A busy machine may take long to notice that an origin is too slow.
        let server = try TestServer(Self.limits.merging(["IMGPROXY_TIMEOUT": "20"]) { $1 })
        try server.serve()
        let body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        func serve(
            _ path: String, _ behaviour: OriginResponse.Behaviour, _ framing: OriginResponse.Framing = .contentLength
        ) {
            server.origin.serve(path, OriginResponse(body: body, framing: framing, behaviours: [behaviour]))
        }
        serve("/silent", .stall(at: .beforeHead))
        serve("/stalls", .stall(at: .byte(30)))
        serve("/drips", .drip(bytes: 1, every: .milliseconds(300)))
        serve("/resets", .reset(at: .afterHead))
        serve("/hangs-up", .cut(at: .beforeHead))
        serve("/chunks", .badChunkSize(after: 20), .chunked(size: 16))
        server.origin.serve("/lies", OriginResponse(body: body, framing: .falseLength(body.count * 2)))
        server.origin.serve(
            "/endless", OriginResponse(body: [UInt8](repeating: 7, count: 3_000_000), framing: .chunked(size: 4096)))
        server.origin.serve(
            "/bomb", OriginResponse(headers: [("Content-Encoding", "gzip")], body: gzipBomb(20_000_000)))
        for (path, next) in [("/loop", "/loop"), ("/round", "/and-round"), ("/and-round", "/round")] {
            server.origin.serve(path, OriginResponse(status: 302, headers: [("Location", server.origin.url(next))]))
        }
        server.origin.serve("/file", OriginResponse(status: 302, headers: [("Location", "file:///etc/passwd")]))
        let cases = [
            ("/silent", 504), ("/stalls", 504), ("/drips", 504), ("/resets", 404), ("/hangs-up", 404), ("/chunks", 404),
            ("/lies", 422), ("/endless", 422), ("/bomb", 422), ("/loop", 404), ("/round", 404), ("/file", 404),
        ]
        try await withThrowingTaskGroup { group in
            for (path, status) in cases {
                group.addTask {
                    let answer = await server.picture("w:10", path)
                    #expect(answer.status == status, "\(path): \(answer.text)")
                }
            }
            // Meanwhile other requests are answered.
            for width in 1...20 {
                group.addTask { #expect(await server.picture("w:\(width)").status == 200) }
            }
            try await group.waitForAll()
        }
        #expect(server.endpoint.service.waitingCount == 0)
        #expect(await server.picture("w:30").status == 200)
    }

    /// Results that were deleted are made and stored again.
    @Test func aDiskThatIsWipedIsFilledAnew() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/wiped-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try TestServer(["WEBIMAGE_CACHE_DIR": folder, "WEBIMAGE_MEMORY_CACHE_SIZE": "0"])
        try server.serve()
        for round in 0..<3 {
            for width in 1...10 { #expect(await server.picture("w:\(width)").status == 200, "\(round) \(width)") }
            await server.cache.flush()
            // Originals are still being written, so that the folder may reappear.
            while round < 2, FileManager.default.fileExists(atPath: folder) {
                try? FileManager.default.removeItem(atPath: folder)
            }
        }
        let files = FileManager.default.enumerator(atPath: folder + "/results")?.allObjects.count ?? 0
        #expect(files > 10)
    }
}
