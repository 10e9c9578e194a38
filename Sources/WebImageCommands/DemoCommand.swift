import ArgumentParser
import Foundation
import WebImage
import WebImageTesting

/// `webimage demo`, which `make demo` runs: loads sample pictures from a local server, first from the network, then
/// from disk and from memory. The results are shown as a table and a contact sheet.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Load sample pictures from a local server: from the network, from disk and from memory.")

    @Option(
        help: ArgumentHelp("The folder for the contact sheet and the demo's cache.", valueName: "DIR"),
        completion: .directory)
    var output = "demo-output"

    func run() async throws {
        do throws(WebImageError) {
            try await show()
        } catch {
            Console.err("error: \(PictureReport.sentence(error))")
            throw someFailed
        }
    }

    private func show() async throws(WebImageError) {
        try OutputFiles.makeDirectory(output)
        // A folder of its own, so that no other cache is emptied.
        let cacheDirectory = "\(output)/cache/demo"
        try await DiskCache(Self.disk(cacheDirectory)).removeAll()
        let origin = try DemoOrigin()
        defer { origin.server.stop() }
        Console.out("\(origin.pictures.count) pictures served at \(origin.server.url("/"))\n")

        let cold = try await DemoRound.run(origin, Self.manager(cacheDirectory), title: "from the network")
        await cold.manager.finishStores()
        // A new manager has an empty memory cache, so that pictures come from disk.
        let disk = try await DemoRound.run(origin, Self.manager(cacheDirectory), title: "from disk")
        let memory = try await DemoRound.run(origin, disk.manager, title: "from memory")

        Console.out(DemoTable.text(origin.pictures, cold: cold, disk: disk, memory: memory))
        let sheet = try DemoSheet.draw(origin.pictures, cold: cold, disk: disk)
        let path = "\(output)/contact-sheet.png"
        try OutputFiles.write(try await cold.manager.encode(sheet, as: .png), to: path)
        let usage = disk.manager.diskCache?.usage.bytes ?? .zero
        Console.out("\n\(path): the contact sheet\n\(cacheDirectory): the disk cache, \(usage)")
        if let broken = [cold, disk, memory].lazy.flatMap(\.failures).first { throw broken }
    }

    private static func manager(_ cacheDirectory: String) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = disk(cacheDirectory)
        // The origin is on this machine.
        configuration.download.proxy = .direct
        return ImageManager(configuration: configuration)
    }

    private static func disk(_ directory: String) -> DiskCacheConfiguration {
        DiskCacheConfiguration(directory: directory)
    }
}

/// The server of the demo and what it serves.
struct DemoOrigin {
    let server: OriginServer
    let pictures: [SamplePicture]

    init() throws(WebImageError) {
        server = try OriginServer()
        pictures = SamplePictures.demo + SamplePictures.gallery()
        for (index, picture) in pictures.enumerated() {
            if Console.isErrorTerminal {
                Console.write(
                    "\r\u{1B}[Kdrawing \(index + 1) of \(pictures.count): \(picture.name)", to: .standardError)
            }
            let bytes = try picture.encoded()
            // Sent at the speed of a good connection: slowly enough to see a bar, and to see that decoding keeps up.
            let time = Duration.milliseconds(80 + min(bytes.count >> 13, 500))
            server.serve(
                "/\(picture.fileName)",
                .bytes(
                    bytes, contentType: picture.format.mimeType ?? "image/*", etag: "\"\(picture.name)\"",
                    cacheControl: "max-age=3600"
                ).with(.paced(over: time, pieces: 40)))
        }
        if Console.isErrorTerminal { Console.write("\r\u{1B}[K", to: .standardError) }
    }

    func request(for picture: SamplePicture) -> ImageRequest {
        var request = ImageRequest(server.url("/\(picture.fileName)"))
        request.size = TargetSize(width: 320, height: 240)
        return request
    }
}

/// One round of the demo: all pictures, loaded once.
struct DemoRound: Sendable {
    let manager: ImageManager
    /// By index in the list of pictures.
    private(set) var answers: [Int: Result<ImageResponse, WebImageError>] = [:]
    private(set) var total: Duration = .zero

    var failures: [WebImageError] {
        answers.values.compactMap { result in
            if case .failure(let error) = result { error } else { nil }
        }
    }

    func response(_ index: Int) -> ImageResponse? { try? answers[index]?.get() }

    static func run(
        _ origin: DemoOrigin, _ manager: ImageManager, title: String
    ) async throws(WebImageError) -> DemoRound {
        var round = DemoRound(manager: manager)
        let display = ProgressDisplay()
        let begin = ContinuousClock.now
        await withTaskGroup(of: (Int, Result<ImageResponse, WebImageError>).self) { group in
            for (index, picture) in origin.pictures.enumerated() {
                let request = origin.request(for: picture)
                group.addTask { (index, await load(request, index, picture.fileName, manager, display)) }
            }
            for await (index, result) in group { round.answers[index] = result }
        }
        round.total = ContinuousClock.now - begin
        Console.out("\(title): \(origin.pictures.count) pictures in \(PictureReport.shortTime(round.total))")
        return round
    }

    private static func load(
        _ request: ImageRequest, _ index: Int, _ name: String, _ manager: ImageManager, _ display: ProgressDisplay
    ) async -> Result<ImageResponse, WebImageError> {
        let begin = ContinuousClock.now
        if let image = manager.cachedImage(for: request) {
            var response = ImageResponse(image: image, source: .memory)
            response.timings.total = ContinuousClock.now - begin
            return .success(response)
        }
        display.begin(index, name: name)
        defer { display.end(index, line: nil) }
        for await event in manager.events(for: request) {
            switch event {
            case .progress(let progress): display.show(progress, of: index)
            case .preview, .cached: break
            case .finished(let result): return result
            }
        }
        return .failure(.cancelled)
    }
}
