import Foundation
import WebImage
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Small documents that are costly to draw, each in a process of its own, drawn at 4096 by 4096: how each drawing
/// ended, how long it took, and how much the memory of the process grew at most. Bars: no process dies, 10 seconds, 512
/// MiB.
enum DocumentBench {
    private static let side = 4096

    static func run() async throws {
        var (worstTime, worstPeak) = ((0.0, ""), (0.0, ""))
        var (ends, died) = ([String: Int](), [String]())
        for (number, document) in CostlyDocument.all.enumerated() {
            let words = try child(["document", "\(number)"]).split(separator: " ")
            guard words.count == 3, let time = Double(words[1]), let peak = Double(words[2]) else {
                died.append(document.name)
                continue
            }
            ends[String(words[0]), default: 0] += 1
            if time > worstTime.0 { worstTime = (time, document.name) }
            if peak > worstPeak.0 { worstPeak = (peak, document.name) }
            if time > 2 || peak > 400 { print("  \(document.name): \(words[0]), \(time) s, \(peak) MiB") }
        }
        print("\(CostlyDocument.all.count) documents at \(side) by \(side): \(ends.sorted { $0.key < $1.key })")
        print(
            "longest \(worstTime.0) s (\(worstTime.1)), most memory \(worstPeak.0) MiB (\(worstPeak.1)); died: \(died)")
        #if AVIF && PDF
            print("a good AVIF beside two that take too long: \(try child(["beside-documents"]))")
        #endif
    }

    /// The output of a process of this program; empty if the process dies.
    private static func child(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { return "" }
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    private static func request(_ document: CostlyDocument) -> ImageRequest {
        var request = ImageRequest(data: document.bytes, name: document.name)
        request.size = TargetSize(width: side, height: side)
        return request
    }

    private static func manager() -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        return ImageManager(configuration: configuration)
    }

    /// Draws one document and ends the process.
    static func draw(_ number: Int) async {
        let request = request(CostlyDocument.all[number])
        let (begin, before) = (ContinuousClock.now, Resident.now)
        var end = "drawn"
        do throws(WebImageError) {
            let size = try await manager().image(for: request).image.size
            if size != PixelSize(width: side, height: side) { end = "drawn-at-\(size)" }
        } catch { end = "\((error.cause as? WebImageError)?.code ?? error.code)" }
        finish("\(end) \(seconds(since: begin)) \(Measure.text(Resident.peak - before, 0))")
    }

    /// Draws a picture while two documents are drawn whose drawing does not end.
    static func drawBesideTwo() async throws {
        let slow = CostlyDocument.pdf.filter {
            ["pdf tiles of a thousandth", "pdf overlapping tiles"].contains($0.name)
        }
        let picture = try SamplePictures.sunset(PixelSize(width: 1024, height: 768)).encoded(as: .avif)
        let manager = manager()
        let tasks = slow.map { document in Task { try await manager.image(for: request(document)) } }
        try await Task.sleep(for: .seconds(1))
        let begin = ContinuousClock.now
        let image = try await manager.image(for: ImageRequest(data: picture, name: "good"))
        let time = seconds(since: begin)
        var ends: [String] = []
        for task in tasks {
            do { ends.append("\(try await task.value.image.size)") } catch {
                let error = error as? WebImageError
                ends.append("\((error?.cause as? WebImageError ?? error)?.code.description ?? "untyped")")
            }
        }
        finish("\(time) s for \(image.image.size); the two ended as \(ends)")
    }

    private static func finish(_ line: String) -> Never {
        print(line)
        fflush(nil)
        _exit(0)
    }

    private static func seconds(since begin: ContinuousClock.Instant) -> String {
        Measure.text((ContinuousClock.now - begin) / .seconds(1))
    }
}
