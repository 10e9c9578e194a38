#if GTK
    /// The pictures that are visible while they fade into each other, and their opacities.
    ///
    /// A picture that fades in covers the earlier ones by `progress`. If a fade is interrupted, the pictures that are
    /// visible at that moment stay below the next picture, so that nothing ever jumps.
    struct FadeSequence<Picture> {
        /// A picture, or nothing, and how much it covers the earlier steps: 0 to 1.
        struct Step {
            var picture: Picture?
            var progress: Double
        }

        /// The steps from the bottom up. The first covers everything.
        private(set) var steps = [Step(picture: nil, progress: 1)]
        private var fade: (duration: Duration, start: Duration?)?

        /// The most steps. Further ones would hardly be visible, and each costs a pass over the area.
        private static var most: Int { 4 }

        var isFading: Bool { fade != nil }
        var newest: Picture? { steps.last?.picture }

        /// Begins to show another picture. A fade begins with the next frame.
        mutating func show(_ picture: Picture?, fading duration: Duration?) {
            guard let duration, duration > .zero else {
                steps = [Step(picture: picture, progress: 1)]
                fade = nil
                return
            }
            // The newest picture was never visible.
            if steps.count > 1, steps.last?.progress == 0 { steps.removeLast() }
            steps.append(Step(picture: picture, progress: 0))
            if steps.count > Self.most {
                steps.removeFirst()
                steps[0].progress = 1
            }
            fade = (duration, nil)
        }

        /// Replaces the newest picture by the next frame of its animation, and continues the fade.
        mutating func replaceNewest(with picture: Picture?) { steps[steps.count - 1].picture = picture }

        /// - Parameter time: the time of the next frame. A fade begins with the time of its first frame.
        mutating func advance(to time: Duration) {
            guard let (duration, start) = fade else { return }
            guard let start else {
                fade = (duration, time)
                return
            }
            let progress = min(max((time - start) / duration, 0), 1)
            if progress == 1 { finish() } else { steps[steps.count - 1].progress = progress }
        }

        /// Ends the fade: the newest picture is fully visible.
        mutating func finish() {
            steps = [Step(picture: newest, progress: 1)]
            fade = nil
        }
    }
#endif
