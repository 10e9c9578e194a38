import CShimSandbox
import WebImageCore

/// Workers differ by what they need of the system: who draws text reads fonts.
enum WorkerKind: Hashable, CaseIterable {
    case pictures, drawings

    init(of coder: any ImageCoder) { self = coder.decodableFormats.contains(where: \.isVector) ? .drawings : .pictures }

    var options: Int { self == .drawings ? WI_WORKER_READS_FONTS : 0 }

    /// Has libraries load what they load at their first use: files, fonts, tables. Afterwards they cannot.
    func warmUp(_ coders: [any ImageCoder]) {
        for coder in coders {
            for sample in Self.samples where coder.decodableFormats.contains(sample.format) {
                guard
                    let decoder = try? coder.makeDecoder(
                        DecodeOptions(), plan: { (_) throws(WebImageError) in DecodePlan(sink: PixelBufferSink()) })
                else { continue }
                let bytes = Array(sample.text.utf8)
                _ = try? bytes.withUnsafeBytes { try decoder.push($0) }
                try? decoder.finish()
            }
        }
    }

    /// The smallest pictures with a letter in them, and beginnings at which libraries wake up.
    private static let samples: [(format: ImageFormat, text: String)] = [
        (
            .svg,
            #"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>"#
        ),
        (
            .pdf,
            """
            %PDF-1.4
            1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
            2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
            3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
            4 0 obj<</Length 27>>stream
            BT /F 9 Tf 0 0 Td (a) Tj ET
            endstream endobj
            5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
            trailer<</Root 1 0 R>>
            """
        ),
        (.heic, "\0\0\0\u{18}ftypheic\0\0\0\0heicmif1\0\0\0\u{8}meta"),
        (.avif, "\0\0\0\u{18}ftypavif\0\0\0\0avifmif1\0\0\0\u{8}meta"),
    ]
}
