import WebImageCore

extension PixelSize {
    /// The size of a picture whose sides are divided by `denominator`, rounded up.
    func dividedUp(by denominator: Int) -> PixelSize {
        PixelSize(width: (width + denominator - 1) / denominator, height: (height + denominator - 1) / denominator)
    }
}
