import CSysWebP
import WebImageCore

/// How a picture is scaled down during decoding: each pixel is the mean of those that it represents.
///
/// Opaque pictures are scaled by libwebp, which stretches a picture to any size. So that a pixel represents exactly
/// `denominator` pixels of a row, incomplete last columns and rows are left out, and the last complete one is repeated.
struct WebPScaling {
    static let denominators = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]

    let denominator: Int
    /// The part of the picture that libwebp scales, and the size of its output.
    let used: PixelSize
    let made: PixelSize
    /// The size with the repeated column and row.
    let size: PixelSize

    init(_ picture: PixelSize, denominator: Int) {
        self.denominator = denominator
        func whole(_ side: Int) -> Int { max(side / denominator, 1) }
        made = PixelSize(width: whole(picture.width), height: whole(picture.height))
        used = PixelSize(
            width: min(made.width * denominator, picture.width), height: min(made.height * denominator, picture.height))
        size = picture.dividedUp(by: denominator)
    }

    func set(_ options: inout WebPDecoderOptions) {
        options.use_cropping = 1
        (options.crop_width, options.crop_height) = (Int32(used.width), Int32(used.height))
        options.use_scaling = 1
        (options.scaled_width, options.scaled_height) = (Int32(made.width), Int32(made.height))
    }

    /// Repeats the last column and row of libwebp's output in place of incomplete ones.
    func complete(_ picture: UnsafeMutableRawPointer, rows: Range<Int>) {
        let words = picture.assumingMemoryBound(to: UInt32.self)
        for row in rows {
            let line = words + row * size.width
            if row >= made.height { line.update(from: line - size.width, count: size.width) }
            if size.width > made.width { line[made.width] = line[made.width - 1] }
        }
    }
}
