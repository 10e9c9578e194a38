#if GTK
    import Testing
    import WebImageTesting

    /// Boxes and paintables as GTK draws them, on a virtual display.
    @Suite(.serialized, .enabled(if: VirtualDisplay.isAvailable, "Xvfb is not installed: `make test-programs` does it"))
    struct ScreenTests {
        @Test func aTextureHasThePixelsOfItsImage() throws {
            let probe = try Probe("textures")
            let opaque = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]]
            let translucent = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 128, 128], [128, 128, 128, 128]]
            for layout in ["rgba8", "rgba16"] {
                for (alpha, expected) in [
                    ("opaque", opaque), ("straight", translucent), ("premultiplied", translucent),
                ] {
                    let colors = probe.facts("texture \(layout) \(alpha)").first?.split(separator: " ").map(String.init)
                    let found = try #require(colors)
                    #expect(found.count == 4)
                    #expect(zip(found, expected).allSatisfy { isNear($0, $1) }, "\(layout) \(alpha): \(found)")
                }
            }
        }

        @Test func coloursOfOtherSpacesAreConverted() throws {
            let color = try #require(Probe("textures").facts("wide").first)
            #expect(color.hasSuffix("ff") && isNear(color, [255, 0, 0, 255], within: 2), "\(color)")
        }

        @Test func everyOrientationIsDrawnUpright() throws {
            #expect(
                try Probe("orientations").facts("orientation") == [
                    "up 12x8 same", "upMirrored 12x8 same", "down 12x8 same", "downMirrored 12x8 same",
                    "leftMirrored 8x12 same", "right 8x12 same", "rightMirrored 8x12 same", "left 8x12 same",
                ])
        }

        @Test func aPictureIsDrawnWhereItsFitSays() throws {
            #expect(
                try Probe("fits").facts("fit") == [
                    "fill 0,0 16x32", "contain 0,12 16x8", "cover 0,0 16x32", "scaleDown 4,14 8x4", "none 4,14 8x4",
                    // Drawn at a scale of two, and by a custom fit.
                    "scaled 6,15 4x2", "own 0,0 16x32",
                ])
        }

        @Test func aFadeMixesWhatIsSeenWithWhatComes() throws {
            let probe = try Probe("fades")
            func color(_ name: String) -> String { probe.facts("fade \(name)").first ?? "missing" }
            #expect(color("before") == "ff0000ff")
            #expect(color("start") == "ff0000ff")
            #expect(isNear(color("half"), [128, 0, 127, 255]))
            // The third picture fades in over the mixture of the first two.
            #expect(isNear(color("interrupted"), [128, 0, 127, 255]))
            #expect(isNear(color("interrupted-half"), [64, 128, 64, 255]))
            #expect(color("end") == "00ff00ff")
            #expect(isNear(color("out-half"), [0, 128, 0, 128]))
            #expect(color("out") == "none")
            // No frames are requested after the fades have ended.
            #expect(probe.facts("ticks") == ["0", "0", "0 others 1"])
            // Without a source of frames, a fade ends at once.
            #expect(probe.facts("others") == ["0 fading false"])
            #expect(probe.facts("completed") == ["first", "second", "third"])
        }

        @Test func aFadeOfAnUnseenWidgetIsAtItsEndAtOnce() throws {
            #expect(
                try Probe("widgetFades").lines == [
                    "unseen-completed false", "seen-fading true", "seen-completed 0000ffff", "hidden-before true",
                    "hidden-completed false", "hidden-after false",
                ])
        }

        @Test func texturesAndBoxesAreReleasedWithTheirLastOwner() throws {
            #expect(
                try Probe("lives").lines == [
                    "alive unplaced box paintable texture pixels", "alive unplaced-dropped nothing",
                    "alive in-picture paintable texture pixels", "alive out-of-picture nothing",
                    // Swift holds no reference to the box, and it still works.
                    "resized 16x16", "alive in-window box paintable texture pixels", "seen 010203ff",
                    "alive window-closed nothing", "alive replaced box paintable",
                ])
        }

        @Test func aClosureOfASignalIsLetGo() throws {
            #expect(
                try Probe("signals").lines == [
                    "signal hide", "signal disconnected true false", "signal hide", "signal gone true false",
                    "signal unknown true", "signal notify true", "signal plain notify", "signal refused true",
                ])
        }

        @Test func theMainActorRunsInTheMainLoopWithoutIdleWakes() throws {
            #expect(
                try Probe("pump").lines == ["hops 1000 tasks 4", "idle-wakes 0", "idle-pending false"])
        }

        @Test func theFrameClockKeepsTheOrderOfTimes() throws {
            #expect(
                try Probe("clock").lines == [
                    // A wake that is added during a turn of the loop waits for the next turn.
                    "added-in-turn false", "order over first second second-too third", "early false", "added true",
                ])
        }

        @Test func aBoxTellsItsSizeInDevicePixels() throws {
            #expect(
                try Probe("sizes", ["GDK_SCALE=2"]).lines == [
                    "size 30x20 scale 2 pixels 60x40", "size 40x25 scale 2 pixels 80x50", "screenshot 80x50",
                    // The picture of 60x20 pixels has 30x10 logical ones. For a width of 60, its height is 20.
                    "measured 0 30", "measured 0 20",
                    // With the fit `none`, the picture is not enlarged.
                    "measured-none 0 10",
                    // A picture of the same size that fills the box.
                    "measured-fill 0 20",
                    // With scales that are invalid, very large or very small.
                ] + Array(repeating: ["measured-scale 0 20", "wide true"], count: 5).joined())
        }

        @Test func aBoxTellsWhetherItIsSeen() throws {
            #expect(
                try Probe("visibility").lines == [
                    "tick-unseen false", "visible true", "step hide", "visible false", "step show", "visible true",
                    "frames 3 true", "step take", "visible false", "step close",
                ])
        }

        /// Animations once played on in a minimised window.
        @Test(.enabled(if: PeerProcess.find("xprop") != nil, "xprop is not installed"))
        func aBoxInAMinimisedWindowIsNotSeen() throws {
            #expect(try Probe("minimised").lines == ["visible true true", "visible false false", "visible true true"])
        }

        @Test func waitingForAFrameEndsAlsoWithoutOne() throws {
            #expect(
                try Probe("frames").lines == [
                    "frame-unseen false", "shot-unseen false", "frame-seen true", "frame-closed false",
                ])
        }

        @Test func aScreenshotIsWrittenAsAFile() throws {
            #expect(
                try Probe("files").lines == ["file-unseen false", "file true", "file-size 30x20", "file-nowhere false"])
        }

        @Test func aScreenReaderFindsTheLabel() throws {
            #expect(try Probe("label", ["GTK_A11Y=test"]).lines == ["label true", "role true"])
        }
    }
#endif
