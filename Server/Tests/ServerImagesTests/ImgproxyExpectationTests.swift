import Foundation
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage

@testable import ServerImages

/// The expected pictures of imgproxy's own tests, by their URLs, if imgproxy's test data lies beside the project.
@Suite struct ImgproxyExpectationTests {
    private static let folder: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("shared/imgproxy", isDirectory: true)
    }()

    private static let isAvailable = FileManager.default.fileExists(
        atPath: folder.appendingPathComponent("expectations.csv").path)

    struct Expectation {
        var group: String
        var name: String
        var hash: String

        func words(behind label: String, _ count: Int) -> [String] {
            let words = name.split(separator: "_").map(String.init)
            guard let place = words.firstIndex(of: label), place + count < words.count else { return [] }
            return Array(words[place + 1...place + count])
        }

        private var offset: String { words(behind: "offset", 2).map { ":" + $0 }.joined() }
        private var dpr: String { words(behind: "dpr", 1).map { "/dpr:" + $0 }.joined() }
        private var size: String {
            (name.split(separator: "_").first { $0.first?.isNumber == true } ?? "").replacingOccurrences(
                of: "x", with: ":")
        }

        /// The options that the file's name states; nil if the pixels depend on libvips' resampler.
        var options: String? {
            let gravity = (words(behind: "gravity", 1).first ?? "ce") + offset
            let isWhole = dpr.isEmpty || dpr == "/dpr:2"
            switch group {
            case "TestCrop/TestCrop" where isWhole: return "c:\(size):\(gravity)\(dpr)"
            case "TestExtend/TestExtend" where isWhole:
                return
                    "s:\(words(behind: "extend", 1)[0].replacingOccurrences(of: "x", with: ":"))/ex:1:\(gravity)\(dpr)"
            case "TestExtend/TestExtendAspectRatio" where isWhole:
                let size = words(behind: "extendAr", 1)[0].replacingOccurrences(of: "x", with: ":")
                return "s:\(size)/exar:1:\(gravity)\(dpr)"
            case "TestPadding/TestPadding" where words(behind: "dpr", 1) == ["1"]:
                let sides = words(behind: "pad", 4)  // left, top, right, bottom
                return "pd:\(sides[1]):\(sides[2]):\(sides[3]):\(sides[0])/bg:ff0000/el:1"
            case let group where group.hasPrefix("TestRotateAndFlip"):
                let parts = name.split(separator: "_")
                let degrees = parts.first { $0.hasPrefix("rotate-") }?.dropFirst(7) ?? "0"
                let flip = "fl:\(name.contains("flip-true") ? 1 : 0):\(name.contains("_true_ar") ? 1 : 0)"
                return "rot:\(degrees)/\(flip)/ar:\(name.contains("ar-false") ? 0 : 1)"
            case let group where group.hasPrefix("TestTrim"):
                return "t:\(words(behind: "threshold", 1)[0]):\(words(behind: "color", 1).first?.dropFirst() ?? "")"
                    + ":\(name.contains("equalHor") ? 1 : 0):\(name.contains("equalVer") ? 1 : 0)"
            default: return nil
            }
        }

        var source: String {
            switch group {
            case "TestTrim/TestColor": return "trim2.png"
            case "TestTrim/TestAlpha": return "trim3.png"
            case let group where group.hasPrefix("TestTrim"): return "trim1.png"
            default: break
            }
            guard group.hasPrefix("TestRotateAndFlip") else { return "geometry.png" }
            return "orientation-\(name.dropFirst(4).prefix(1)).png"
        }
    }

    @Test(.enabled(if: isAvailable)) func optionsOfURLsMakeTheSamePixels() async throws {
        let table = try String(contentsOf: Self.folder.appendingPathComponent("expectations.csv"), encoding: .utf8)
        let settings = ServerSettings()
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        var checked = 0
        for line in table.split(whereSeparator: \.isNewline).dropFirst() {
            let fields = line.split(separator: ",").map(String.init)
            let expectation = Expectation(group: fields[0], name: fields[1], hash: fields[3])
            guard let options = expectation.options else { continue }
            let file = Self.folder.appendingPathComponent(expectation.source).absoluteString
            let url = try URLGrammar().parse(target: "/_/\(options)/plain/\(file)")
            let request = try PicturePlan(url, settings).request(isStill: true, timeout: nil)
            let image = try await manager.image(for: request).image
            #expect(Self.hash(image) == expectation.hash, "\(expectation.group) \(expectation.name): \(options)")
            checked += 1
        }
        #expect(checked >= 180)
    }

    private static func hash(_ image: Image) -> String {
        let digest = image.withPixels { Digest.sha256(Array($0)) }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
