import CSysCrypto
import Foundation
import Testing
import WebImage
import WebImageTesting

/// imgproxy's own expected images, compared bit for bit, if `shared/imgproxy` exists beside the project.
@Suite struct ImgproxyExpectationTests {
    private static let folder: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("shared/imgproxy", isDirectory: true)
    }()

    private static let isAvailable = FileManager.default.fileExists(
        atPath: folder.appendingPathComponent("expectations.csv").path)

    struct Expectation {
        var group: String
        var name: Substring
        var hash: Substring

        /// The words after a label in the name: in `crop_50x50_offset_0.1_5`, the two words after `offset` are `0.1`
        /// and `5`.
        func words(behind label: String, _ count: Int) -> [String] {
            let words = name.split(separator: "_").map(String.init)
            guard let place = words.firstIndex(of: label), place + count < words.count else { return [] }
            return Array(words[place + 1...place + count])
        }

        private var offset: String {
            words(behind: "offset", 2).map { "," + (Double($0) ?? 0).description }.joined()
        }

        private var dpr: String { words(behind: "dpr", 1).map { ":dpr=" + $0 }.joined() }

        /// The transforms that the test's name stands for, or nil if the result depends on libvips' resampler.
        var chain: String? {
            let gravity = (words(behind: "gravity", 1).first ?? "ce") + offset
            switch group {
            case "TestCrop/TestCrop" where dpr.isEmpty || dpr == ":dpr=2":
                let size = name.split(separator: "_").first { $0.first?.isNumber == true } ?? ""
                return "imgproxy:c=\(size.replacingOccurrences(of: "x", with: ",")):g=\(gravity)\(dpr)"
            case "TestExtend/TestExtend" where dpr.isEmpty || dpr == ":dpr=2":
                let geometry = "\(words(behind: "extend", 1)[0]):extend:exg=\(gravity)\(dpr)"
                return "imgproxy:\(geometry)|imgproxy-canvas:\(geometry)"
            case let group where group.hasPrefix("TestRotateAndFlip"): return turns
            case "TestTrim/TestThreshold":
                let threshold = words(behind: "threshold", 1)[0]
                return "trim:\(threshold)" + words(behind: "color", 1).map { ":color=" + $0 }.joined()
                    + (name.contains("equalHor") ? ":equal-x" : "") + (name.contains("equalVer") ? ":equal-y" : "")
            default: return nil
            }
        }

        private var turns: String {
            let parts = name.split(separator: "_")
            let degrees = parts.first { $0.hasPrefix("rotate-") }?.dropFirst(7) ?? "0"
            let flips = (name.contains("flip-true") ? "x" : "") + (name.contains("_true_ar") ? "y" : "")
            return [degrees == "0" ? nil : "turn:\(degrees)", flips.isEmpty ? nil : "flip:\(flips)"]
                .compactMap { $0 }.joined(separator: "|")
        }

        var source: String {
            if group.hasPrefix("TestTrim") { return "trim1.png" }
            guard group.hasPrefix("TestRotateAndFlip") else { return "geometry.png" }
            return "orientation-\(name.dropFirst(4).prefix(1)).png"
        }
    }

    @Test(.enabled(if: isAvailable)) func cropsExtendsTurnsAndTrimsMatchImgproxysPixels() async throws {
        let table = try String(contentsOf: Self.folder.appendingPathComponent("expectations.csv"), encoding: .utf8)
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        var checked = 0
        for line in table.split(whereSeparator: \.isNewline).dropFirst() {
            let fields = line.split(separator: ",")
            let expectation = Expectation(group: String(fields[0]), name: fields[1], hash: fields[3])
            guard let chain = expectation.chain else { continue }
            var request = ImageRequest(path: Self.folder.appendingPathComponent(expectation.source).path)
            request.caching.policy = .noStore
            request.transformers = try ImageTransform.parse(chain)
            request.decoding.ignoresOrientation = expectation.name.contains("ar-false")
            let image = try await manager.image(for: request).image
            #expect(Self.hash(image) == expectation.hash, "\(expectation.group) \(expectation.name): \(chain)")
            checked += 1
        }
        #expect(checked >= 180)
    }

    private static func hash(_ image: Image) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        image.withPixels { bytes in
            _ = SHA256(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &digest)
        }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
