import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// A downloader with a real HTTP server on loopback. Its transport is libcurl's, unless a test gives another.
struct Rig {
    let server: OriginServer
    let clock = ManualClock()
    let downloader: ImageDownloader

    /// Makes a rig whose clock the test moves, and whose retries wait without jitter.
    init(_ configuration: DownloadConfiguration = .with(), transport: (any HTTPTransport)? = nil) throws {
        server = try OriginServer()
        downloader = ImageDownloader(
            configuration: configuration, transport: transport, clock: clock,
            executor: ThreadPool(name: "test-io", width: 2), files: PosixFileSystem(), jitter: { 1 })
    }

    /// A rig that retries after one second, then two, then four and so on.
    static func retrying(
        _ retries: Int = 2, change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> Rig {
        try Rig(
            .with {
                $0.retry = RetryPolicy(retries: retries, firstDelay: .seconds(1))
                change(&$0)
            })
    }

    /// Waits until the rig's only transfer waits for its retry, then advances the clock by `seconds`.
    func passRest(seconds: Int = 1) async {
        while downloader.counters.resting == 0 { await Task.yield() }
        #expect(downloader.counters.resting == 1 && downloader.counters.running == 0)
        clock.advance(by: .seconds(seconds))
    }

    /// Starts the download of a path of the rig's server, or of a complete URL.
    func download(_ path: String, priority: LoadPriority = .normal) -> Download {
        downloader.download(DownloadRequest(url: path.hasPrefix("/") ? server.url(path) : path), priority: priority)
    }

    /// Downloads the body and returns it, with "complete" or the name of the error's code.
    func fetch(_ path: String) async -> (body: [UInt8], end: String) { await fetch(download(path)) }

    func fetch(_ download: Download) async -> (body: [UInt8], end: String) {
        let end = await download.log.ended()
        return ((try? download.log.latest.collect()) ?? [], end.name)
    }
}

extension DownloadConfiguration {
    /// The default configuration without retries, with these changes.
    static func with(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> DownloadConfiguration {
        var configuration = DownloadConfiguration()
        configuration.retry = .never
        change(&configuration)
        return configuration
    }
}
