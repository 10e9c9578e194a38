import ArgumentParser
import Foundation
import WebImage

/// `webimage info`: reports what the files of pictures say.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print the format, size, orientation and other properties of pictures.",
        discussion: """
            Reads only as much of each picture as is needed. Nothing is decoded, and no cache is used. With --placeholder, \
            the whole picture is read, and decoded to at most 100x100 pixels.
            """)

    @Argument(help: "Files or URLs; - is standard input.", completion: .file())
    var inputs: [String]

    @Flag(help: "Also print the BlurHash, ThumbHash (base64), average colour, dominant colour and palette.")
    var placeholder = false

    @OptionGroup var limits: InputOptions
    @OptionGroup var decoders: IsolationOptions

    @Flag(help: "Print only JSON, one object per line.")
    var json = false

    mutating func validate() throws { try InputBytes.checkReadsOnce(inputs) }

    func run() async throws {
        let manager = ImageManager(configuration: .withoutCaches(decoders, isQuiet: json))
        var allWell = true
        for input in inputs where !Console.isReaderGone {
            let report = await report(on: input, manager)
            report.tell(json: json, plain: Self.plain(report))
            allWell = allWell && report.status == .ok
        }
        if !allWell { throw someFailed }
    }

    private func report(on input: String, _ manager: ImageManager) async -> PictureReport {
        var report = PictureReport(input: input)
        let begin = ContinuousClock.now
        do throws(WebImageError) {
            let pipe = placeholder ? nil : InputBytes.pipe(input, limits)
            var request =
                if let pipe { InputBytes.request(reading: pipe, limits) } else {
                    try await InputBytes.request(for: input, limits)
                }
            let allowed = request.decoding.limits
            if placeholder {
                let original = try await manager.bytes(for: request)
                report.source = original.source
                let bytes = try await InputBytes.all(of: original)
                request = ImageRequest(data: bytes, name: input)
                request.decoding.limits = allowed
            }
            // The limit concerns decoding; a picture of any size can be described.
            (request.decoding.limits.pixels, request.decoding.limits.animationPixels) = (.max, .max)
            let details = try await manager.details(for: request, onRest: pipe.map { $0.beginRest })
            report.header = details.header
            report.byteCount = details.byteCount?.bytes
            report.source = report.source ?? details.source
            if let pipe {
                report.source = .file
                report.byteCount = await pipe.countToEnd()
            }
            if placeholder {
                request.decoding.limits = allowed
                try await Self.addPlaceholders(to: &report, request, manager)
            }
            var timings = LoadTimings()
            timings.total = ContinuousClock.now - begin
            report.timings = timings
        } catch {
            report.fail(error)
        }
        report.isolation = manager.isolationReport
        return report
    }

    private static func addPlaceholders(
        to report: inout PictureReport, _ details: ImageRequest, _ manager: ImageManager
    ) async throws(WebImageError) {
        var request = details
        request.size = Placeholders.size
        (request.decoding.firstFrameOnly, request.decoding.allowsPartial) = (true, true)
        let response = try await manager.image(for: request)
        // With missing rows the hashes and colours would be different.
        if let error = response.partialError { return report.failPartly(error) }
        report.placeholders = try Placeholders(of: response.image)
    }

    private static func plain(_ report: PictureReport) -> String {
        guard let header = report.header, report.status == .ok else { return report.plain }
        var parts = ["\(report.shownInput): \(header.format.rawValue) \(header.size)"]
        if header.orientation != .up {
            parts.append("shown as \(header.displaySize) (orientation \(header.orientation.rawValue))")
        }
        parts.append("\(header.bitDepth) bit\(header.hasAlpha ? " with alpha" : "")")
        if let frames = header.frameCount, frames > 1 { parts.append("\(frames) frames") }
        if let profile = header.iccProfile { parts.append("ICC \(ICCProfile.name(of: profile) ?? "profile")") }
        if let color = header.colorDescription, color.isHighDynamicRange {
            parts.append("HDR (\(color.transfer == 16 ? "PQ" : "HLG"))")
        }
        if let density = header.metadata.density { parts.append(shown(density)) }
        if let exif = header.metadata.exif { parts.append("EXIF \(ByteCount(exif.count))") }
        if let xmp = header.metadata.xmp { parts.append("XMP \(ByteCount(xmp.count))") }
        if let iptc = header.metadata.iptc { parts.append("IPTC \(ByteCount(iptc.count))") }
        if let photo = header.metadata.photo { parts += facts(of: photo) }
        if header.isProgressive { parts.append("progressive") }
        if let byteCount = report.byteCount { parts.append(ByteCount(byteCount).description) }
        let line = parts.joined(separator: ", ")
        return report.placeholders.map { "\(line)\n\($0.plain)" } ?? line
    }

    /// The date, the camera and the place. A file may contain anything, so that the texts are made safe to show.
    private static func facts(of photo: PhotoDetails) -> [String] {
        var facts: [String] = []
        if let date = photo.date { facts.append("taken \(date)") }
        if let camera = photo.cameraModel ?? photo.cameraMaker {
            facts.append("camera \(Console.shown(camera, most: 80))")
        }
        if let place = photo.place {
            facts.append(String(format: "at %.5f %.5f", place.latitude, place.longitude))
        }
        return facts
    }

    private static func shown(_ density: PixelDensity) -> String {
        let (across, down) = (Int(density.horizontal.rounded()), Int(density.vertical.rounded()))
        return across == down ? "\(across) dpi" : "\(across)x\(down) dpi"
    }
}
