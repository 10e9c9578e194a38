import Testing
import WebImageCore
import WebImageProcessing

@Suite struct ImageProcessingTests {
    private func image(
        _ size: PixelSize = PixelSize(40, 20), alpha: AlphaMode = .straight, orientation: Orientation = .up,
        profile: [UInt8]? = nil
    ) throws -> Image {
        Image(
            pixels: try PixelBuffer.random(size, alpha: alpha, seed: 1),
            info: Image.Info(alpha: alpha, orientation: orientation, iccProfile: profile))
    }

    @Test func aTurnedImageIsResizedAsItIsShown() throws {
        let small = try image(orientation: .right).resized(to: TargetSize(width: 5))
        #expect(small.displaySize == PixelSize(5, 10) && small.size == PixelSize(10, 5))
        #expect(small.info.orientation == .right)
        let upright = try small.upright()
        #expect(upright.size == PixelSize(5, 10) && upright.info.orientation == .up)
        #expect(upright.pixels.pixel(0, 0) == small.pixels.pixel(0, 4))
    }

    @Test func operationsWithoutEffectCopyNoPixels() throws {
        let opaque = try image(alpha: .opaque)
        #expect(try opaque.resized(to: TargetSize(width: 4000)).pixels === opaque.pixels)
        #expect(try opaque.upright().pixels === opaque.pixels)
        #expect(try opaque.flattened(onto: .black).pixels === opaque.pixels)
        #expect(try opaque.inSRGB().pixels === opaque.pixels)
        #expect(try opaque.with(alpha: .straight).pixels === opaque.pixels)
    }

    @Test func alphaChangesItsMeaningAndBack() throws {
        let straight = try image()
        let before = straight.pixels.channels
        let premultiplied = try straight.with(alpha: .premultiplied)
        #expect(premultiplied.alpha == .premultiplied && straight.pixels.channels == before)
        #expect(try premultiplied.with(alpha: .straight).alpha == .straight)
        #expect(try straight.with(alpha: .opaque).alpha == .straight, "it has holes")
        let full = try image(alpha: .opaque).with(alpha: .straight)
        #expect(try full.with(alpha: .opaque).alpha == .opaque)
        let flat = try straight.flattened(onto: .white)
        #expect(flat.alpha == .opaque && flat.pixels.isOpaque)
        let same = zip(flat.pixels.channels, try premultiplied.flattened(onto: .white).pixels.channels)
        #expect(same.allSatisfy { abs($0 - $1) <= 1 })
    }

    @Test func aProfileIsRemovedOnceItIsApplied() throws {
        let p3 = ICCProfileBytes.rgb(ICCProfileBytes.displayP3Colorants, .sRGB)
        let wide = try image(profile: p3)
        let converted = try wide.inSRGB()
        #expect(converted.info.iccProfile == nil)
        #expect(converted.pixels.channels != wide.pixels.channels)
        let plain = try image(profile: ICCProfileBytes.rgb(ICCProfileBytes.sRGBColorants, .sRGB))
        #expect(try plain.inSRGB().pixels === plain.pixels)
        #expect(try plain.inSRGB().info.iccProfile == nil)
        let damaged = try image(profile: [1, 2, 3])
        #expect(try damaged.inSRGB().info.iccProfile == [1, 2, 3])
    }
}
