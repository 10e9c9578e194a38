/// The Netpbm format in which a PNM picture is written.
public enum PortableAnymap: String, Hashable, Sendable, CaseIterable {
    /// PPM for opaque pictures, otherwise PAM.
    case automatic
    /// PPM (P6): colours; transparent pixels are laid over ``EncodeOptions/background``.
    case pixmap
    /// PGM (P5): the luma of a pixmap's colours (ITU-R BT.601, as in Netpbm).
    case graymap
    /// PBM (P4): black where a graymap is darker than half, otherwise white.
    case bitmap
    /// PAM (P7): colours, and alpha where there is any.
    case arbitrary

    /// The format for a file extension, without the dot; `pnm` is ``automatic``.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "pnm": self = .automatic
        case "ppm": self = .pixmap
        case "pgm": self = .graymap
        case "pbm": self = .bitmap
        case "pam": self = .arbitrary
        default: return nil
        }
    }
}
