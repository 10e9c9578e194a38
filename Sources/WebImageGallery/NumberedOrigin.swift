import WebImage
import WebImageTesting

/// A server of numbered pictures, each of a single colour that no other picture has. It answers with a delay, and some
/// pictures are missing.
final class NumberedOrigin: Sendable {
    static let count = 500
    /// The colour of a cell whose picture is not loaded yet.
    static let background: [UInt8] = [128, 128, 128]

    let server: OriginServer
    let items: [GalleryItem]

    /// - Parameter delay: the delay before each answer.
    init(delay: Duration = .milliseconds(50)) throws(WebImageError) {
        server = try OriginServer()
        items = (0..<Self.count).map { [server] in GalleryItem(server.url("/number-\($0).png")) }
        for number in 0..<Self.count where !Self.isMissing(number) {
            server.serve("/number-\(number).png") { _ in
                guard let bytes = try? Self.picture(number) else { return .status(500) }
                return .bytes(bytes, contentType: "image/png", etag: "\"\(number)\"", cacheControl: "max-age=3600")
                    .with(.delay(delay))
            }
        }
        server.serve(under: "/") { _ in .status(404).with(.delay(delay)) }
    }

    /// Whether the server does not have the picture; true for one of twenty.
    static func isMissing(_ number: Int) -> Bool { number % 20 == 13 }

    /// A point on the surface of a cube around the background's colour. No two points are in the same direction from
    /// the centre, so that even a colour that fades in over the background identifies its picture.
    static func color(_ number: Int) -> [UInt8] {
        let (face, place) = (number % 6, number / 6)
        let (across, down) = (place % 10, place / 10)
        var color = [UInt8(20 + across * 24), UInt8(20 + down * 24)]
        color.insert(face % 2 == 0 ? 8 : 248, at: face / 2)
        return color
    }

    private static func picture(_ number: Int) throws(WebImageError) -> [UInt8] {
        let color = color(number)
        let image = try Image(size: PixelSize(width: 48, height: 48), alpha: .opaque) { bytes in
            for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : color[place % 4] }
        }
        return try CoderRegistry.standard.encode(image, as: .png, EncodeOptions())
    }
}
