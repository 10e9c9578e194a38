import WebImage
import WebImageTesting

/// The demo's server with some hundreds of pictures. It listens on loopback, and draws a picture each time that it is
/// requested.
final class GalleryOrigin: Sendable {
    let server: OriginServer
    let items: [GalleryItem]

    private static let lakes = 320

    /// - Throws: the error of a server that cannot listen.
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
        // Nothing is served under this path, so that the gallery also shows how it handles an error.
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
            // Sent at the speed of a good connection: slowly enough that waiting is visible.
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
