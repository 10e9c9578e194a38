import CBench
import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bodies of 10 KB from nginx, 64 at a time: compares the CPU time of the downloader with that of a plain loop over
/// libcurl, and measures what many downloads leave behind.
enum DownloadBench {
    private static let count = 6000
    private static let concurrent = 64

    static func run() async throws {
        guard NginxServer.isAvailable else { return print("nginx or openssl is not installed") }
        let server = try NginxServer()
        let url = "http://127.0.0.1:\(server.plainPort)/body"
        var configuration = DownloadConfiguration()
        configuration.maxConcurrent = concurrent
        configuration.maxConcurrentPerHost = concurrent
        let downloader = ImageDownloader(configuration: configuration)
        // The first round includes the cost of connections and allocations.
        _ = cb_download(url, 1000, Int32(concurrent), 0)
        await download(url, 1000, downloader)
        var (floors, ours, ratios, sameRatios) = ([Double](), [Double](), [Double](), [Double]())
        for _ in 0..<7 {
            let floor = perRequest(count) { _ = cb_download(url, Int32(count), Int32(concurrent), 0) }
            let same = perRequest(count) { _ = cb_download(url, Int32(count), Int32(concurrent), 1) }
            let before = Measure.processCPU
            await download(url, count, downloader)
            let own = (Measure.processCPU - before) / Double(count)
            floors.append(floor)
            ours.append(own)
            ratios.append(own / floor)
            sameRatios.append(own / same)
        }
        print("libcurl alone     \(Measure.text(Measure.median(floors), 1)) us of CPU a request")
        print(
            "ImageDownloader   \(Measure.text(Measure.median(ours), 1)) us, ratio \(Measure.text(Measure.median(ratios)))"
        )
        // The baseline requests one URL and sends two fields; this one sends the downloader's requests.
        print("                  \(Measure.text(Measure.median(sameRatios))) of libcurl alone with the same requests")
        let before = Residue.now
        await download(url, 10_000, downloader)
        print("before 10 000     \(before)\nafter             \(Residue.now)")
    }

    private static func perRequest(_ count: Int, _ work: () -> Void) -> Double {
        let before = Measure.processCPU
        work()
        return (Measure.processCPU - before) / Double(count)
    }

    /// Each of 64 lanes begins its next download when its last one has ended, on the thread that reports the end.
    private static func download(_ url: String, _ count: Int, _ downloader: ImageDownloader) async {
        await withCheckedContinuation { continuation in
            let lanes = Lanes(url: url, count: count, downloader: downloader) { continuation.resume() }
            for _ in 0..<concurrent { lanes.next() }
        }
    }

    private final class Lanes: Sendable {
        private let url: String
        private let downloader: ImageDownloader
        private let left: Atomic<Int>
        private let running: Atomic<Int>
        private let whenDone: @Sendable () -> Void

        init(url: String, count: Int, downloader: ImageDownloader, whenDone: @escaping @Sendable () -> Void) {
            self.url = url
            self.downloader = downloader
            left = Atomic(count)
            running = Atomic(concurrent)
            self.whenDone = whenDone
        }

        func next() {
            let number = left.subtract(1, ordering: .relaxed).newValue
            guard number >= 0 else {
                if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
                return
            }
            // Each download is a transfer of its own, as for different pictures.
            let download = downloader.download(DownloadRequest(url: "\(url)?\(number)"))
            download.log.whenEnded {
                withExtendedLifetime(download) {}
                self.next()
            }
        }
    }

    private struct Residue: CustomStringConvertible {
        let descriptors: Int
        let threads: Int
        let kilobytes: Int

        static var now: Residue {
            let files = PosixFileSystem()
            let pages = residentPages
            return Residue(
                descriptors: (try? files.names(in: "/proc/self/fd").count) ?? 0,
                threads: (try? files.names(in: "/proc/self/task").count) ?? 0, kilobytes: pages * 4)
        }

        private static var residentPages: Int {
            guard let file = fopen("/proc/self/statm", "r") else { return 0 }
            defer { fclose(file) }
            var text = [CChar](repeating: 0, count: 128)
            fgets(&text, 128, file)
            let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
        }

        var description: String { "\(descriptors) descriptors, \(threads) threads, \(kilobytes) KB resident" }
    }
}
