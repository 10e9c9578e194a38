/// How much of a body a request must be able to decode. A body that failed for one request may do for another that
/// demands less.
package struct DecodeDemand: Hashable, Sendable {
    /// Every frame of the picture, and nothing missing.
    package static let whole = DecodeDemand(frames: .max, allowsPartial: false)

    var frames: Int
    var allowsPartial: Bool

    /// - Parameters:
    ///   - frames: the most frames of an animation that are read.
    ///   - allowsPartial: whether a picture of which a part is missing suffices.
    package init(frames: Int, allowsPartial: Bool) {
        self.frames = frames
        self.allowsPartial = allowsPartial
    }

    /// Whether the request may succeed where one with another demand has failed.
    func mayDo(where failed: DecodeDemand) -> Bool {
        frames < failed.frames || allowsPartial && !failed.allowsPartial
    }

    /// What has failed if both demands have.
    func lower(_ other: DecodeDemand) -> DecodeDemand {
        DecodeDemand(frames: min(frames, other.frames), allowsPartial: allowsPartial || other.allowsPartial)
    }
}
