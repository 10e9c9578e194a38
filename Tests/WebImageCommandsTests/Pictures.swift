import WebImage
import WebImageCore
import WebImageTesting

/// The encoded pictures that the tests serve.
enum Pictures {
    static func jpeg(_ width: Int = 200, _ height: Int = 120, orientation: Orientation = .up) throws -> [UInt8] {
        try SamplePicture(
            "card", "", width: width, height: height, as: .jpeg, orientation: orientation,
            drawing: SamplePictures.testCard
        ).encoded()
    }

    static func progressive() throws -> [UInt8] {
        try SamplePicture(
            "sunset", "", width: 640, height: 480, as: .jpeg, EncodeOptions(quality: 90, progressive: true),
            drawing: SamplePictures.grainySunset
        ).encoded()
    }

    static func png(_ width: Int = 90, _ height: Int = 60) throws -> [UInt8] {
        try SamplePictures.testCard(PixelSize(width: width, height: height)).encoded(as: .png)
    }

    static func cursor() throws -> [UInt8] {
        var bytes = try SamplePictures.logo(PixelSize(width: 32, height: 32)).encoded(as: .ico)
        // The type, which distinguishes a cursor from an icon.
        bytes[2] = 2
        return bytes
    }

    /// A PNG with its orientation after its pixels.
    static func turnedAtTheEnd() throws -> [UInt8] {
        var bytes = try SamplePicture(
            "card", "", width: 90, height: 60, as: .png, orientation: .right, drawing: SamplePictures.testCard
        ).encoded()
        guard let name = bytes.indices.first(where: { bytes[$0...].starts(with: "eXIf".utf8) }) else { return [] }
        let length = bytes[name - 4..<name].reduce(0) { $0 << 8 | Int($1) }
        let chunk = bytes[name - 4..<name + length + 8]
        bytes.removeSubrange(chunk.indices)
        // Before the last chunk, which has no contents.
        bytes.insert(contentsOf: chunk, at: bytes.count - 12)
        return bytes
    }

    /// A WebP of three frames, large enough to arrive in several pieces.
    static func animatedWebP() throws -> [UInt8] {
        let size = PixelSize(width: 640, height: 480)
        let encoder = try WebPCoder().makeAnimationEncoder(
            .webp, AnimationDescription(size: size, loopCount: 7), EncodeOptions(quality: 100))
        let (sunset, nebula) = (try SamplePictures.grainySunset(size), try SamplePictures.nebula(size))
        for frame in [sunset, nebula, sunset] { try encoder?.add(frame, delay: .milliseconds(40)) }
        return try encoder?.finish() ?? []
    }

    /// A picture with transparent edges.
    static func logo() throws -> [UInt8] {
        try SamplePictures.logo(PixelSize(width: 64, height: 64)).encoded(as: .png)
    }

    /// A PNG with 16 bits a channel.
    static func deep() throws -> [UInt8] {
        try SamplePictures.deepGradient(PixelSize(width: 64, height: 40)).encoded(as: .png)
    }

    /// A TIFF of pages of these sizes, each a test card.
    static func pages(_ sizes: [PixelSize]) throws -> [UInt8] {
        let encoder = try CoderRegistry.standard.pageEncoder(for: .tiff)
        for size in sizes { try encoder.add(try SamplePictures.testCard(size)) }
        return try encoder.finish()
    }

    /// A JPEG that ends in the middle.
    static func cut() throws -> [UInt8] {
        let whole = try jpeg(400, 300)
        return Array(whole.prefix(whole.count / 2))
    }

    /// A PNG of the right length with a wrong byte in its middle, which its checksums reveal.
    static func broken() throws -> [UInt8] {
        var bytes = try png(300, 200)
        bytes[bytes.count / 2] ^= 0xFF
        return bytes
    }

    /// The pixels as they are stored: not turned, not converted.
    static func stored(
        _ bytes: [UInt8], page: Int = 0
    ) async throws -> (size: PixelSize, layout: PixelLayout, pixels: [UInt8]) {
        var request = ImageRequest(data: bytes, name: "stored")
        request.decoding.page = page
        request.decoding.appliesOrientation = false
        request.decoding.convertsToSRGB = false
        request.decoding.keepsBitDepth = true
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let image = try await ImageManager(configuration: configuration).image(for: request).image
        return (image.size, image.layout, image.withPixels { Array($0) })
    }
}
