public import WebImageCodecs
import WebImageCore

extension SamplePictures {
    /// The pictures of the demo, with each kind of file that a loader meets. Descriptions are at most 20 letters, so
    /// that they fit a contact sheet.
    public static let demo: [SamplePicture] = [
        SamplePicture(
            "sunset", "baseline JPEG", width: 1600, height: 1067, as: .jpeg, EncodeOptions(quality: 85),
            drawing: sunset),
        SamplePicture(
            "dawn", "progressive, tall", width: 1000, height: 1500, as: .jpeg,
            EncodeOptions(quality: 82, progressive: true), drawing: dawn),
        SamplePicture(
            "night", "progressive, wide", width: 2400, height: 750, as: .jpeg,
            EncodeOptions(quality: 85, progressive: true), drawing: night),
        SamplePicture(
            "gray-sunset", "JPEG of grey pixels", width: 1200, height: 800, as: .jpeg, EncodeOptions(quality: 80),
            drawing: graySunset),
        SamplePicture(
            "turned-card", "JPEG, orientation 6", width: 900, height: 1200, as: .jpeg,
            EncodeOptions(quality: 90), orientation: .right, drawing: testCard),
        SamplePicture(
            "mirrored-dawn", "JPEG, orientation 2", width: 1200, height: 900, as: .jpeg,
            EncodeOptions(quality: 85), orientation: .upMirrored, drawing: dawn),
        SamplePicture(
            "camera", "12 MP baseline JPEG", width: 4000, height: 3000, as: .jpeg, EncodeOptions(quality: 88),
            drawing: grainySunset),
        SamplePicture(
            "camera-night", "12 MP progressive", width: 4000, height: 3000, as: .jpeg,
            EncodeOptions(quality: 80, progressive: true), drawing: night),
        SamplePicture(
            "nebula", "opaque PNG, noisy", width: 1024, height: 768, as: .png, drawing: nebula),
        SamplePicture(
            "julia", "opaque PNG, sharp", width: 1200, height: 900, as: .png, drawing: julia),
        SamplePicture(
            "rosette", "opaque PNG, lines", width: 1000, height: 1000, as: .png, drawing: rosette),
        SamplePicture("color-wheel", "PNG with alpha", width: 800, height: 800, as: .png, drawing: colorWheel),
        SamplePicture(
            "checkerboard", "PNG, fading alpha", width: 800, height: 600, as: .png, drawing: checkerboard),
        SamplePicture("logo", "PNG, soft alpha", width: 512, height: 512, as: .png, drawing: logo),
        SamplePicture(
            "deep-gradient", "PNG, 16-bit", width: 900, height: 600, as: .png, drawing: deepGradient),
        SamplePicture("gray-ramp", "PNG of grey pixels", width: 640, height: 320, as: .png, drawing: grayRamp),
        SamplePicture("icon", "small PNG with alpha", width: 48, height: 48, as: .png, drawing: logo),
        SamplePicture("test-card", "opaque PNG", width: 1280, height: 720, as: .png, drawing: testCard),
    ]

    /// A picture in each format that `coders` can write and read and that ``demo`` does not have, sorted by the
    /// formats' names.
    public static func gallery(of coders: CoderRegistry = .standard) -> [SamplePicture] {
        let missing = Set(coders.encodableFormats).intersection(coders.decodableFormats)
            .subtracting(demo.map(\.format))
        return missing.sorted { $0.rawValue < $1.rawValue }.enumerated().map { index, format in
            let motif = motifs[index % motifs.count]
            // An icon's sides are at most 256 pixels.
            let side = [.ico, .cur].contains(format) ? 256 : nil
            return SamplePicture(
                "\(motif.name)-\(format.rawValue)", "\(motif.name) as \(format.fileExtension)", width: side ?? 640,
                height: side ?? 480, as: format, drawing: motif.drawing)
        }
    }

    /// In turn a motif for lossy formats, one for lossless formats, and one with alpha.
    private static let motifs: [(name: String, drawing: SamplePicture.Drawing)] = [
        ("sunset", sunset), ("wheel", colorWheel), ("nebula", nebula), ("logo", logo), ("dawn", dawn),
        ("julia", julia), ("night", night),
    ]
}
