#if GTK
    import Testing

    /// Views and cells that load, on a virtual display.
    @Suite(.serialized, .enabled(if: VirtualDisplay.isAvailable, "Xvfb is not installed: `make test-programs` does it"))
    struct ViewTests {
        @Test func aViewShowsItsPlaceholderAndThenThePictureInItsSize() throws {
            #expect(
                try Probe("loads").lines == [
                    "placeholder 090807ff", "picture 6f2f03ff of 20x20", "again true 6f2f03ff", "kept true",
                    "cleared true",
                ])
        }

        @Test func aLoadThatFailedIsTriedAgainByAClick() throws {
            #expect(try Probe("retries").lines == ["button true", "button false"])
        }

        @Test func aReleasedViewCancelsItsLoad() throws {
            #expect(try Probe("ends").lines == ["gone true cancelled"])
        }

        @Test func anAnimationPlaysWhileItIsSeen() throws {
            #expect(try Probe("plays").lines == ["frames [1, 2, 3, 0, 1, 2]", "hidden false"])
        }

        @Test(arguments: [1, 2]) func gtksOwnWidgetsShowLoadedPictures(scale: Int) throws {
            let shown = ["picture", "image", "button"].map { "\($0) 6f2f03ff true scale \(scale).0" }
            #expect(try Probe("widgets", ["GDK_SCALE=\(scale)"]).lines == shown + ["label none"])
        }

        @Test func noCellOfAGridShowsAnothersPicture() throws {
            #expect(try Probe("cells").lines == ["cells true seen true wrong 0", "warm true true"])
        }

        /// GTK binds more cells than are in view and does not bind them again when they come into view. Such cells once
        /// kept the old pictures.
        @Test func reloadingAListAlsoChangesItsCellsThatAreNotInView() throws {
            #expect(try Probe("reloads").lines == ["reloaded true true true"])
        }

        /// GTK 4.12 and later does not bind a cell again when items before it are inserted or removed. Cells once stayed
        /// at their old positions.
        @Test func cellsFollowTheirItemsToOtherPositions() throws {
            #expect(
                try Probe("shifts").lines == [
                    "shown true", "removed true", "inserted true", "moved true", "back true",
                ])
        }

        /// The player of a replaced animation once drew over the new picture when the program went on to play it.
        @Test func aPlayerThatTheProgramKeepsDoesNotDrawOverAnotherPicture() throws {
            #expect(try Probe("keptPlayer").lines == ["plays false", "sought 2", "drawn 6f2f03ff"])
        }

        @Test func aListIsPrefetchedBeforeItIsScrolled() throws {
            #expect(try Probe("prefetches").lines == ["ahead true"])
        }

        /// A view that had no size without its picture once waited for one for ever.
        @Test func aViewWithoutASizeGetsItFromItsPicture() throws {
            #expect(
                try Probe("sizeless").lines == [
                    "column 120x80 in 300x200", "row 120x80 in 300x300", "packed 120x80 in 120x80",
                    "wide 300x200 in 300x200", "explicit 90x60 in 300x200", "placeholder 120x80 in 120x80",
                    "natural 120x80 in 120x80",
                ])
        }

        @Test func onAFineScreenAViewWithoutASizeIsAsLargeAsItsPixels() throws {
            #expect(
                try Probe("sizeless", ["GDK_SCALE=2"]).lines == [
                    "column 120x80 in 300x200", "row 120x80 in 300x300", "packed 120x80 in 60x40",
                    "wide 600x400 in 300x200", "explicit 90x60 in 300x200", "placeholder 120x80 in 60x40",
                    "natural 120x80 in 60x40",
                ])
        }

        /// Each picture was once loaded for the size that the view had from the one before, so each was smaller than
        /// the last.
        @Test(arguments: [1, 2]) func aViewWithoutASizeGetsItFromEachOfItsPictures(scale: Int) throws {
            let lines = ["packed", "column", "picture"].flatMap { name in
                let large = "\(300 * scale)x\(420 * scale)"
                return ["\(name) 120x80 \(large) 120x80 \(large)", "\(name)-now 300x420"]
            }
            #expect(try Probe("reused", ["GDK_SCALE=\(scale)"]).lines == lines)
        }

        /// A view that was never in a window once played an animation from memory.
        @Test func anAnimationWaitsUntilItIsSeen() throws {
            #expect(try Probe("unseen").lines == ["unseen false", "seen true"])
        }

        @Test func widgetsOfGTKsOwnLoadForTheSizeThatTheyHave() throws {
            #expect(
                try Probe("widgetSizes").lines == [
                    "shown-first false 60x40", "grown 150x100", "shown-first true 60x40", "grown 150x100",
                ])
        }

        @Test func anAnimationGoesOnInAViewThatGrows() throws {
            #expect(
                try Probe("growing").lines == [
                    "paused true plays false loop 0 rate 1.0", "playing true plays true loop 0 rate 0.25",
                    "ended true plays false loop 2 rate 1.0",
                ])
        }

        @Test func indicatorsThatDoNotFitIntoAViewAreHidden() throws {
            #expect(
                try Probe("room").lines == [
                    "loading-small 0", "loading-large 1", "loading-small 0", "failed-small false", "failed-large true",
                    "failed-for-ever false",
                ])
        }

        @Test func aViewWithoutASizeOffersToTryAgain() throws {
            #expect(
                try Probe("sizelessFailure").lines == [
                    "empty true", "button true", "picture 120x80 in 120x80", "button false",
                ])
        }

        @Test func aScreenReaderFindsTheButton() throws {
            #expect(try Probe("buttonLabel", ["GTK_A11Y=test"]).lines == ["label true"])
        }

        /// The view itself once used these closures, so a program that set them broke it.
        @Test func aViewWorksAlsoForAProgramThatSetsItsClosures() throws {
            #expect(
                try Probe("hooks").lines == [
                    "hooks [\"size\", \"state\", \"visibility\"] button true", "visible 3 true",
                ])
        }

        @Test func aBlurHashFillsItsView() throws {
            #expect(try Probe("blur").lines == ["blur [\"ff\", \"ff\", \"ff\"]", "own 7x5"])
        }

        @Test func aUserWithoutAnimationsSeesNoFade() throws {
            #expect(
                try Probe("noAnimations").lines == [
                    "fading true", "first completed", "fading false", "second completed", "fading false",
                ])
        }
    }
#endif
