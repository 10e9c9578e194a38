#if GTK
    import Testing

    @testable import WebImageGTK

    @Suite struct FadeSequenceTests {
        /// The weight of each picture in the visible mixture. The weights always add up to 1.
        private func weights(_ fades: FadeSequence<String>) -> [String: Double] {
            var weights: [String: Double] = [:]
            for step in fades.steps {
                weights = weights.mapValues { $0 * (1 - step.progress) }
                weights[step.picture ?? "nothing", default: 0] += step.progress
            }
            return weights
        }

        @Test func aFadeBeginsWithItsFirstFrame() {
            var fades = FadeSequence<String>()
            fades.show("a", fading: .seconds(2))
            fades.advance(to: .seconds(100))
            #expect(weights(fades)["nothing"] == 1)
            fades.advance(to: .seconds(101))
            #expect(weights(fades) == ["nothing": 0.5, "a": 0.5])
            fades.advance(to: .seconds(102))
            #expect(weights(fades) == ["a": 1])
            #expect(!fades.isFading)
        }

        @Test func withoutADurationNothingFades() {
            var fades = FadeSequence<String>()
            for duration in [nil, Duration.zero, .seconds(-1)] {
                fades.show("a", fading: duration)
                #expect(!fades.isFading && weights(fades) == ["a": 1])
            }
        }

        @Test func anInterruptedFadeGoesOnFromWhatIsSeen() {
            var fades = FadeSequence<String>()
            fades.show("a", fading: nil)
            fades.show("b", fading: .seconds(1))
            fades.advance(to: .seconds(0))
            fades.advance(to: .milliseconds(250))
            fades.show("c", fading: .seconds(1))
            fades.advance(to: .seconds(5))
            #expect(weights(fades) == ["a": 0.75, "b": 0.25, "c": 0])
            fades.advance(to: .milliseconds(5500))
            #expect(weights(fades) == ["a": 0.375, "b": 0.125, "c": 0.5])
        }

        @Test func aPictureThatWasNeverSeenLeavesNoTrace() {
            var fades = FadeSequence<String>()
            fades.show("a", fading: nil)
            for name in ["b", "c", "d"] { fades.show(name, fading: .seconds(1)) }
            #expect(fades.steps.map(\.picture) == ["a", "d"])
        }

        @Test func aFadeThatIsInterruptedForEverKeepsFewPictures() {
            var fades = FadeSequence<Int>()
            for number in 0..<100 {
                fades.show(number, fading: .seconds(1))
                fades.advance(to: .seconds(number))
                fades.advance(to: .seconds(number) + .milliseconds(500))
                #expect(fades.steps.count <= 4)
                #expect(fades.steps.first?.progress == 1)
            }
        }

        @Test func theNextFrameOfAnAnimationLetsTheFadeGoOn() {
            var fades = FadeSequence<String>()
            fades.show("a", fading: nil)
            fades.show("b1", fading: .seconds(1))
            fades.advance(to: .seconds(0))
            fades.advance(to: .milliseconds(500))
            fades.replaceNewest(with: "b2")
            #expect(weights(fades) == ["a": 0.5, "b2": 0.5])
            #expect(fades.isFading)
        }

        @Test func aClockThatGoesBackDoesNoHarm() {
            var fades = FadeSequence<String>()
            fades.show("a", fading: .seconds(1))
            fades.advance(to: .seconds(10))
            fades.advance(to: .seconds(9))
            #expect(weights(fades)["nothing"] == 1)
        }
    }
#endif
