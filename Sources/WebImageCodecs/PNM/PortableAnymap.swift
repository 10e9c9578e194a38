/// Which of Netpbm's formats a PNM picture is written in.
public enum PortableAnymap: String, Hashable, Sendable, CaseIterable {
    /// PPM for opaque pictures, else PAM.
    case automatic
    /// PPM (P6): colours; transparent pixels are laid over ``EncodeOptions/background``.
    case pixmap
    /// PGM (P5): how bright the colours of a pixmap are (ITU-R BT.601, as Netpbm has it).
    case graymap
    /// PBM (P4): black where a graymap is darker than half, else white.
    case bitmap
    /// PAM (P7): colours, and alpha where there is any.
    case arbitrary

    /// The format of a file name's extension, without the dot; `pnm` is ``automatic``.
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
