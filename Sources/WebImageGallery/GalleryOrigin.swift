import WebImage
import WebImageTesting

/// The demo's origin, with some hundreds of pictures: a server on loopback that draws each one when it is first asked for.
final class GalleryOrigin: Sendable {
    let server: OriginServer
    let items: [GalleryItem]

    private static let lakes = 320

    /// - Throws: what the server throws that cannot listen.
    init() throws(WebImageError) {
        server = try OriginServer()
        var pictures = SamplePictures.demo + SamplePictures.gallery()
        let front = pictures.count
        pictures += (0..<Self.lakes).map(Self.lake)
        var paths: [String] = []
        for picture in pictures {
            paths.append("/\(picture.fileName)")
            Self.serve(server, picture.fileName, picture.format.mimeType) { () throws(WebImageError) in
                try picture.encoded()
            }
        }
        for (index, format) in [ImageFormat.gif, .webp, .apng].enumerated() {
            let name = "waves-\(index + 1).\(format.fileExtension)"
            paths.insert("/\(name)", at: min(5 + index * 6, front))
            Self.serve(server, name, format.mimeType) { () throws(WebImageError) in
                try Self.waves(hue: Float(index) * 0.37, as: format)
            }
        }
        // Nothing is served there: what a gallery does with that is to be seen, too.
        paths.insert("/lost-picture.jpg", at: 9)
        server.serve("/broken.png", .bytes(Array("no picture at all".utf8), contentType: "image/png"))
        paths.insert("/broken.png", at: 20)
        items = paths.map { [server] in GalleryItem(server.url($0)) }
    }

    private static func serve(
        _ server: OriginServer, _ name: String, _ type: String?,
        _ make: @escaping @Sendable () throws(WebImageError) -> [UInt8]
    ) {
        server.serve("/\(name)") { _ in
            guard let bytes = try? make() else { return .status(500) }
            // As if it came over a fair line: slow enough to see that it is waited for.
            let time = Duration.milliseconds(60 + min(bytes.count >> 13, 500))
            return .bytes(
                bytes, contentType: type ?? "image/*", etag: "\"\(name)\"", cacheControl: "max-age=3600"
            ).with(.paced(over: time, pieces: 20))
        }
    }

    private static func lake(_ number: Int) -> SamplePicture {
        let sizes = [(640, 427), (427, 640), (600, 600), (800, 450)]
        let (width, height) = sizes[(number * 7 + number / 5) % sizes.count]
        let format: ImageFormat = number % 4 == 3 ? .webp : .jpeg
        let digits = String(repeating: "0", count: 3 - String(number + 1).count) + String(number + 1)
        return SamplePicture(
            "lake-\(digits)-\(SamplePictures.timeOfLake(number))", "a lake", width: width, height: height, as: format,
            EncodeOptions(quality: 82)
        ) { (size: PixelSize) throws(WebImageError) in try SamplePictures.lake(number, size) }
    }

    private static func waves(hue: Float, as format: ImageFormat) throws(WebImageError) -> [UInt8] {
        let frames = try SamplePictures.waves(PixelSize(width: 240, height: 180), frames: 12, hue: hue)
        return try CoderRegistry.standard.encode(
            DrawnAnimation.image(frames, delay: .milliseconds(70)), as: format, EncodeOptions())
    }
}
