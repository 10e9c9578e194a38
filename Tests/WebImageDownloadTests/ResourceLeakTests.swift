import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@testable import WebImageDownload

/// Resources that many downloads leave behind, measured in a process of its own.
@Suite struct ResourceLeakTests {
    @Test func tenThousandDownloadsLeaveNoDescriptorThreadOrMemory() async {
        await #expect(processExitsWith: .success) {
            let rig = try Rig()
            rig.server.serve("/ok", .bytes([UInt8](repeating: 7, count: 10_240), contentType: "image/png"))
            rig.server.serve(
                "/cut", OriginResponse.bytes([1, 2, 3], contentType: "image/png").with(.cut(at: .byte(1))))
            func run(_ count: Int) async {
                for number in 0..<count {
                    let wanted = number % 100 == 0 ? ("/cut", "truncatedBody") : ("/ok?\(number)", "complete")
                    guard await rig.fetch(wanted.0).end == wanted.1 else { exit(2) }
                }
            }
            // Warms up until all pools and caches have their full size.
            await run(2000)
            let before = Residue.now
            await run(10_000)
            let after = Residue.now
            print(before, after)
            guard after.descriptors <= before.descriptors + 1, after.threads <= before.threads + 1 else { exit(3) }
            guard after.kilobytes < before.kilobytes + 16 << 10 else { exit(4) }
            exit(0)
        }
    }
}

/// Descriptors, threads and resident memory of this process.
private struct Residue {
    let descriptors: Int
    let threads: Int
    let kilobytes: Int

    static var now: Residue {
        let files = PosixFileSystem()
        var text = [CChar](repeating: 0, count: 128)
        if let file = fopen("/proc/self/statm", "re") {
            fgets(&text, 128, file)
            fclose(file)
        }
        let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Residue(
            descriptors: (try? files.names(in: "/proc/self/fd").count) ?? 0,
            threads: (try? files.names(in: "/proc/self/task").count) ?? 0,
            kilobytes: (Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4)
    }
}
