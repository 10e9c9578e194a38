import ServerGrammar
import Testing

@Suite struct ResultFormatTests {
    @Test func aFormatHasTheNamesThatImgproxyGivesIt() {
        let names: [(ResultFormat, mediaType: String, fileExtension: String)] = [
            (.jpeg, "image/jpeg", "jpg"), (.png, "image/png", "png"), (.webp, "image/webp", "webp"),
            (.avif, "image/avif", "avif"), (.gif, "image/gif", "gif"), (.jxl, "image/jxl", "jxl"),
            (.heic, "image/heif", "heic"), (.tiff, "image/tiff", "tiff"), (.bmp, "image/bmp", "bmp"),
            (.ico, "image/x-icon", "ico"), (.svg, "image/svg+xml", "svg"),
        ]
        #expect(names.map(\.0) == ResultFormat.allCases)
        for (format, mediaType, fileExtension) in names {
            #expect(format.mediaType == mediaType && format.fileExtension == fileExtension)
            #expect(format.holdsAlpha == (format != .jpeg))
        }
    }
}
