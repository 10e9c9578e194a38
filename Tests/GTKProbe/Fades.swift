#if GTK
    import CSysGTK
    import WebImageCore
    import WebImageGTK

    /// A source of frames that come when the script says so.
    @MainActor final class ManualTicks: FrameTicks {
        private var bodies: [TickID: @MainActor (FrameTick) -> Void] = [:]
        private var last = 0

        var count: Int { bodies.count }

        func addTick(_ body: @escaping @MainActor (FrameTick) -> Void) -> TickID? {
            last += 1
            bodies[TickID(last)] = body
            return TickID(last)
        }

        func removeTick(_ id: TickID) { bodies[id] = nil }

        func tick(_ seconds: Double) { for body in bodies.values { body(.frame(.seconds(seconds))) } }
    }

    @MainActor enum Fades {
        private static let red = Image.plain([255, 0, 0, 255])
        private static let green = Image.plain([0, 255, 0, 255])
        private static let blue = Image.plain([0, 0, 255, 255])

        /// Fades whose frame times the script gives.
        static func byHand() async {
            let (stage, box, ticks) = (Stage(), ImageBox(), ManualTicks())
            let paintable = box.paintable
            await stage.show(box)
            paintable.ticks = ticks
            func tell(_ name: String) async { print("fade \(name) \(await box.widget.drawn()?.hex(8, 8) ?? "none")") }

            paintable.show(red)
            await tell("before")
            paintable.show(blue, fading: .seconds(1)) { print("completed first") }
            ticks.tick(10)
            await tell("start")
            ticks.tick(10.5)
            await tell("half")
            paintable.show(green, fading: .seconds(1)) { print("completed second") }
            ticks.tick(20)
            await tell("interrupted")
            ticks.tick(20.5)
            await tell("interrupted-half")
            ticks.tick(21)
            await tell("end")
            print("ticks \(ticks.count)")

            paintable.show(nil, fading: .seconds(1))
            ticks.tick(30)
            ticks.tick(30.5)
            await tell("out-half")
            paintable.finishFade()
            await tell("out")
            print("ticks \(ticks.count)")

            // Changes to another source of frames, and then to none.
            paintable.show(red, fading: .seconds(1)) { print("completed third") }
            let others = ManualTicks()
            paintable.ticks = others
            print("ticks \(ticks.count) others \(others.count)")
            others.tick(40)
            paintable.ticks = nil
            print("others \(others.count) fading \(paintable.isFading)")
        }

        /// Fades with GTK's frames. They come to their end, and do so at once if the widget is not drawn.
        static func byWidget() async {
            let (stage, box) = (Stage(), ImageBox())
            let paintable = box.paintable
            paintable.show(red, fading: .seconds(1000)) { print("unseen-completed \(paintable.isFading)") }
            await stage.show(box)
            await withCheckedContinuation { continuation in
                paintable.show(blue, fading: .milliseconds(40)) { continuation.resume() }
                print("seen-fading \(paintable.isFading)")
            }
            print("seen-completed \(await box.widget.drawn()?.hex(8, 8) ?? "none")")
            paintable.show(red, fading: .seconds(1000)) { print("hidden-completed \(paintable.isFading)") }
            await box.widget.nextFrame()
            print("hidden-before \(paintable.isFading)")
            gtk_widget_set_visible(box.widget.cWidget, 0)
            print("hidden-after \(paintable.isFading)")
        }
    }
#endif
