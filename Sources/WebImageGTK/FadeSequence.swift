#if GTK
    /// Which pictures are to be seen while they fade into each other, and how much of each.
    ///
    /// A picture that fades in covers what was seen before to the part `progress`. When a fade is interrupted, what was seen at
    /// that moment stays below the next picture, so nothing ever jumps.
    struct FadeSequence<Picture> {
        /// A picture, or nothing, and how much it covers of those before it: 0 to 1.
        struct Step {
            var picture: Picture?
            var progress: Double
        }

        /// From the bottom; the first covers everything.
        private(set) var steps = [Step(picture: nil, progress: 1)]
        private var fade: (duration: Duration, start: Duration?)?

        /// More than that are hardly to be seen, and each costs a pass over the area.
        private static var most: Int { 4 }

        var isFading: Bool { fade != nil }
        var newest: Picture? { steps.last?.picture }

        /// Goes over to another picture. The fade begins with the next frame.
        mutating func show(_ picture: Picture?, fading duration: Duration?) {
            guard let duration, duration > .zero else {
                steps = [Step(picture: picture, progress: 1)]
                fade = nil
                return
            }
            // One that was never seen.
            if steps.count > 1, steps.last?.progress == 0 { steps.removeLast() }
            steps.append(Step(picture: picture, progress: 0))
            if steps.count > Self.most {
                steps.removeFirst()
                steps[0].progress = 1
            }
            fade = (duration, nil)
        }

        /// Puts a picture into the place of the newest one, as the next frame of an animation, and lets the fade go on.
        mutating func replaceNewest(with picture: Picture?) { steps[steps.count - 1].picture = picture }

        /// - Parameter time: of the frame that comes; that of a fade's first frame is the fade's beginning.
        mutating func advance(to time: Duration) {
            guard let (duration, start) = fade else { return }
            guard let start else {
                fade = (duration, time)
                return
            }
            let progress = min(max((time - start) / duration, 0), 1)
            if progress == 1 { finish() } else { steps[steps.count - 1].progress = progress }
        }

        /// Goes to the fade's end.
        mutating func finish() {
            steps = [Step(picture: newest, progress: 1)]
            fade = nil
        }
    }
#endif
