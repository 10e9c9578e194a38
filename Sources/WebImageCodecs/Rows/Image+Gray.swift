import WebImageCore
import WebImageProcessing

extension Image {
    /// Whether it is written with one colour channel if the format supports that: its file had one, and no pixel has
    /// become coloured since. Not with a description of three channels: an RGB profile, or code points.
    ///
    /// - Complexity: O(1) for pictures whose file had colours; else reads the pixels up to the first coloured ones.
    func isWrittenGray(_ options: EncodeOptions) -> Bool {
        guard info.header?.colorModel == .gray else { return false }
        if options.embedsICCProfile {
            let describesGray = info.iccProfile.map { describes("GRAY", $0) } ?? (info.colorDescription == nil)
            guard describesGray else { return false }
        }
        return pixels.isGray
    }
}

extension RGBColor {
    var isGray: Bool { red == green && green == blue }
}
