import FleetTesting
import Foundation
import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import ServerTracing
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

private let fuzzSeconds = ProcessInfo.processInfo.environment["WEBIMAGE_FUZZ_SECONDS"].flatMap { Int($0) } ?? 0

/// Random input from strangers and random settings. Nothing traps, and what is accepted keeps its invariants. With
/// `WEBIMAGE_FUZZ_SECONDS` each test runs for that long from a random seed; a failure names its seed.
@Suite struct FuzzTests {
    private static let rounds = 3000

    private func run(_ name: String, _ round: (inout SeededNumbers) async throws -> Void) async rethrows {
        var seed: UInt64 = fuzzSeconds > 0 ? .random(in: 0 ... .max) : 1
        let end = ContinuousClock.now + .seconds(fuzzSeconds)
        var count = 0
        while fuzzSeconds > 0 ? ContinuousClock.now < end : count < Self.rounds {
            var numbers = SeededNumbers(seed: seed)
            // If a round traps, the last printed line tells a seed shortly before it.
            if fuzzSeconds > 0, count % 1000 == 0 { print("\(name): round \(count), seed \(seed)") }
            try await round(&numbers)
            seed &+= 1
            count += 1
        }
        if fuzzSeconds > 0 { print("\(name): \(count) rounds") }
    }

    // MARK: - Texts

    private static let odd = [
        "", "0", "1", "-1", "1e9", "1e308", "-1e308", "nan", "inf", "-0", "0.5", "0.0000001", "99999999999999999999",
        "9223372036854775807",
        "-9223372036854775808", "+5", "0x10", " 7", "٣", "true", "t", "😀", "%00", "%", "%zz", "\u{0}", "é", "ce", "sm",
        "fp", "re",
        "fill", "auto", "force", "jpg", "webp", "avif", "svg", "ff0000", "f0f",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]

    private static let names = [
        "resize", "rs", "size", "s", "resizing_type", "rt", "width", "w", "height", "h", "min-width", "mw",
        "min-height", "mh", "zoom",
        "z", "dpr", "enlarge", "el", "extend", "ex", "extend_aspect_ratio", "exar", "gravity", "g", "crop", "c", "trim",
        "t",
        "padding", "pd", "auto_rotate", "ar", "rotate", "rot", "flip", "fl", "background", "bg", "blur", "bl",
        "sharpen", "sh",
        "pixelate", "pix", "watermark", "wm", "strip_metadata", "sm", "keep_copyright", "kcr", "strip_color_profile",
        "scp",
        "preserve_hdr", "ph", "quality", "q", "format_quality", "fq", "max_bytes", "mb", "format", "f", "preset", "pr",
        "skip_processing", "skp", "raw", "cachebuster", "cb", "filename", "fn", "return_attachment", "att", "expires",
        "exp",
        "max_src_resolution", "msr", "max_src_file_size", "msfs", "max_animation_frames", "maf", "max_result_dimension",
        "mrd", "nope",
    ]

    private func pick<Element>(_ list: [Element], _ numbers: inout SeededNumbers) -> Element {
        list[Int.random(in: 0..<list.count, using: &numbers)]
    }

    private func argument(_ numbers: inout SeededNumbers) -> String {
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: pick(Self.odd, &numbers)
        case 1: "\(Double(Int.random(in: -2000...2000, using: &numbers)) / 100)"
        default: "\(Int.random(in: 0...40, using: &numbers))"
        }
    }

    private func options(_ numbers: inout SeededNumbers) -> String {
        (0..<Int.random(in: 0...5, using: &numbers)).map { _ in
            let count = Int.random(in: 0...6, using: &numbers)
            return ([pick(Self.names, &numbers)] + (0..<count).map { _ in argument(&numbers) }).joined(separator: ":")
        }.joined(separator: "/")
    }

    private func damaged(_ text: String, _ numbers: inout SeededNumbers) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &numbers) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(pick(Array("/:%@.,;?=\"+- *".utf8), &numbers), at: place)
            default:
                bytes.insert(contentsOf: bytes[place...].prefix(Int.random(in: 0...40, using: &numbers)), at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func noise(_ alphabet: String, _ numbers: inout SeededNumbers) -> String {
        let characters = Array(alphabet)
        return String((0..<Int.random(in: 0...60, using: &numbers)).map { _ in pick(characters, &numbers) })
    }

    // MARK: - The tests

    /// A path is accepted or refused, twice in the same way, and an accepted one can be planned. A tenth of them is
    /// applied to a picture.
    @Test func pathsAndOptions() async throws {
        let settings = try ServerSettings(
            environment: [
                "WEBIMAGE_ALLOW_UNSIGNED": "1", "IMGPROXY_ALLOW_SECURITY_OPTIONS": "1",
                "IMGPROXY_PRESETS": "a=w:5/pr:a,b=h:3",
            ], readFile: { _ in nil }, now: { 1_700_000_000 })
        let picture = try SamplePictures.sunset(PixelSize(width: 19, height: 13))
        await run("paths") { numbers in
            let source = [
                "plain/http://example.com/a.png", "plain/a%40b@webp", "aHR0cDovL2EvYi5wbmc.jpg", "plain/", "",
            ]
            let path = "/_/" + options(&numbers) + "/" + pick(source, &numbers)
            let target = Bool.random(using: &numbers) ? path : damaged(path, &numbers)
            func parsed() -> Result<URLGrammar.ParsedURL, RequestRefusal> {
                Result { () throws(RequestRefusal) in try settings.grammar.parse(target: target) }
            }
            let first = parsed()
            #expect(first == parsed())
            switch first {
            case .failure(let refusal): #expect([403, 404].contains(refusal.status))
            case .success(let url):
                #expect(url.options.canonicalText == url.options.canonicalText)
                let request = try? PicturePlan(url, settings).request(isStill: true, timeout: .seconds(1))
                let transforms = request?.transformers.compactMap { $0 as? ImageTransform } ?? []
                if Int.random(in: 0..<10, using: &numbers) == 0 { _ = try? picture.transformed(by: transforms) }
            }
            _ = InfoOptions.refusesOrTakes(target, settings)
        }
    }

    @Test func acceptedFormats() async {
        await run("Accept") { numbers in
            let text = damaged(
                pick(["image/webp,image/avif;q=0.5,*/*", noise("image/*;q=0.,avifwebp", &numbers)], &numbers), &numbers)
            let formats = AcceptedFormats(accept: text).formats
            #expect(formats.isSubset(of: [.webp, .avif, .jxl]))
        }
    }

    @Test func ranges() async {
        await run("Range") { numbers in
            var fields = HTTPFields()
            fields[.range] = damaged(
                pick(["bytes=0-9", "bytes=-5", "bytes=7-", noise("bytes=0-9, 1", &numbers)], &numbers), &numbers)
            fields[.ifRange] = pick([nil, "\"1\"", "W/\"1\"", "x"], &numbers)
            fields[.ifNoneMatch] = pick([nil, damaged("\"1\", W/\"2\", *", &numbers)], &numbers)
            fields[.ifModifiedSince] = pick([nil, damaged("Sun, 06 Nov 1994 08:49:37 GMT", &numbers)], &numbers)
            let length = pick([0, 1, 10, Int.max], &numbers)
            let conditions = RequestConditions(fields: fields, now: 1000)
            _ = conditions.isKnown(eTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
            if case .bytes(let range) = conditions.part(of: length, eTag: "\"1\"", lastModified: nil) {
                #expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length)
            }
        }
    }

    @Test func traces() async {
        await run("traceparent") { numbers in
            let text = damaged("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", &numbers)
            if let identity = TraceIdentity(traceparent: text) {
                #expect(identity.traceText.count == 32 && TraceIdentity(traceparent: identity.traceparent) != nil)
            }
        }
    }

    /// Settings are accepted, or refused with a list of what is wrong.
    @Test func settings() async {
        let names = SettingNames.all
        await run("settings") { numbers in
            var variables = ["WEBIMAGE_ALLOW_UNSIGNED": "1"]
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let value =
                    switch Int.random(in: 0..<4, using: &numbers) {
                    case 0: noise("0123456789abcdefx:/=,;.@-_% {}", &numbers)
                    case 1: damaged("a=w:5/h:3,10/s;burst=5,http://h:1/p?x=1,2026-01-31T12:00:00Z,webp=5", &numbers)
                    default: pick(Self.odd, &numbers)
                    }
                variables[pick(names, &numbers)] = value
            }
            do throws(SettingsError) {
                _ = try ServerSettings(environment: variables, readFile: { _ in nil }, now: { 0 })
            } catch {
                #expect(!error.problems.isEmpty)
            }
        }
    }
}

extension InfoOptions {
    /// - Returns: Whether the options in the target are accepted; nil if the target is not a path with a source.
    fileprivate static func refusesOrTakes(_ target: String, _ settings: ServerSettings) -> Bool? {
        guard let signed = try? SignedPath(target: target, prefix: ""),
            let (_, options) = try? settings.grammar.parseSource(signed, ":")
        else { return nil }
        return (try? InfoOptions(options, settings.grammar)) != nil
    }
}

/// The names of all settings, found in the sources that read them.
private enum SettingNames {
    static let all: [String] = {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/ServerConfiguration").standardized
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let texts = files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
        let names = texts.split(separator: "\"").filter { text in
            ["IMGPROXY_", "WEBIMAGE_", "OTEL_", "AWS_"].contains(where: text.hasPrefix)
                && text.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" }
        }
        return Set(names.map(String.init)).sorted() + ["PORT"]
    }()
}
