#if GTK
    import Testing

    /// Views and cells that load, on a display without a screen.
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

        @Test func aViewThatGoesTakesItsLoadWithIt() throws {
            #expect(try Probe("ends").lines == ["gone true cancelled"])
        }

        @Test func anAnimationPlaysWhileItIsSeen() throws {
            #expect(try Probe("plays").lines == ["frames [1, 2, 3, 0, 1, 2]", "hidden false"])
        }

        @Test func widgetsOfGTKsOwnShowWhatIsLoaded() throws {
            #expect(
                try Probe("widgets").lines == [
                    "picture 6f2f03ff true", "image 6f2f03ff true", "button 6f2f03ff true", "label none",
                ])
        }

        @Test func noCellOfAGridShowsAnothersPicture() throws {
            #expect(try Probe("cells").lines == ["cells true seen true wrong 0", "warm true true"])
        }
    }
#endif
