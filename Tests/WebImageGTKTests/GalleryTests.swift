#if GTK
    import Testing
    import WebImage
    import WebImageTesting

    @testable import WebImageGallery

    /// The gallery's value types, which need no display.
    struct GalleryValueTests {
        @Test func theCommandLineIsUnderstoodOrRefused() throws {
            let options = try GalleryOptions(["--dark", "a.png", "--input-list", "list", "--", "--odd"])
            #expect(options.isDark && options.inputs == ["a.png", "--odd"] && options.inputList == "list")
            #expect(try GalleryOptions(["--screenshots", "out"]).script == .screenshots(folder: "out"))
            for words in [["--nothing"], ["--input-list"], ["--script", "none"]] {
                #expect(throws: OptionError.self) { try GalleryOptions(words) }
            }
        }

        @Test func aSearchFindsItemsWithAllItsWords() {
            var shown = ShownItems(
                ["http://a/red-fox.jpg", "http://b/red-cat.png", "c/owl.gif?x=1"].map { GalleryItem($0) })
            #expect(shown.count == 3 && shown[2]?.name == "owl.gif")
            var hasChanged = shown.search("RED")
            #expect(hasChanged && shown.positions == [0, 1])
            hasChanged = shown.search("red cat")
            #expect(hasChanged && shown[0]?.name == "red-cat.png" && shown[1] == nil)
            hasChanged = shown.search("cat red")
            #expect(!hasChanged)
            hasChanged = shown.search("")
            #expect(hasChanged && shown.count == 3)
        }

        @Test func zoomingKeepsThePointUnderThePointer() {
            var viewport = Viewport(
                picture: PixelSize(width: 4000, height: 3000), window: PixelSize(width: 800, height: 600))
            #expect(viewport.zoom == 0.2 && viewport.isFitted)
            viewport.setZoom(1, about: (x: 200, y: 150))
            #expect(viewport.visiblePart == PixelRect(x: 800, y: 600, width: 800, height: 600))
            viewport.pan(10_000, 10_000)
            #expect(viewport.visiblePart == PixelRect(x: 0, y: 0, width: 800, height: 600))
            viewport.setZoom(0.01)
            #expect(viewport.isFitted && viewport.placed == PixelRect(x: 0, y: 0, width: 800, height: 600))
        }

        /// A touchpad reports many small parts of a step, each of which once zoomed by a whole step.
        @Test func smallScrollStepsZoomAsMuchAsOneLargeOne() {
            #expect(Viewport.factor(ofScrolling: -1, isInPixels: false) == Viewport.step)
            #expect(Viewport.factor(ofScrolling: 0, isInPixels: true) == 1)
            for (parts, isInPixels) in [(10, false), (40, true)] {
                let part = (isInPixels ? 40.0 : 1.0) / Double(parts)
                let zoom = (0..<parts).reduce(1.0) { zoom, _ in
                    zoom * Viewport.factor(ofScrolling: part, isInPixels: isInPixels)
                }
                #expect(abs(zoom - 1 / Viewport.step) < 0.000_001)
            }
        }

        @Test func onlyTheVisiblePartIsDecodedSharply() throws {
            var viewport = Viewport(
                picture: PixelSize(width: 4000, height: 3000), window: PixelSize(width: 800, height: 600))
            let whole = PixelSize(width: 800, height: 600)
            #expect(SharpPart(for: viewport, whole: whole) == nil)
            viewport.setZoom(1)
            let part = try #require(SharpPart(for: viewport, whole: whole))
            #expect(part.region == PixelRect(x: 1440, y: 1080, width: 1120, height: 840))
            #expect(part.size == PixelSize(width: 1120, height: 840) && part.serves(viewport))
            viewport.pan(100, 0)
            #expect(part.serves(viewport))
            viewport.pan(100, 0)
            #expect(!part.serves(viewport))
        }

        /// An animation three pixels wide was fitted to a width of one pixel, less than the wanted 1.2, so it was once
        /// loaded again and again.
        @Test func aPictureWithoutPartsIsLoadedLargerOnce() throws {
            let window = PixelSize(width: 800, height: 400)
            let narrow = Viewport(picture: PixelSize(width: 3, height: 1000), window: window)
            #expect(narrow.enlargedSize(of: PixelSize(width: 1, height: 400), isVector: false) == nil)
            var viewport = Viewport(picture: PixelSize(width: 1600, height: 800), window: window)
            #expect(viewport.enlargedSize(of: window, isVector: false) == nil)
            viewport.setZoom(4)
            #expect(viewport.enlargedSize(of: window, isVector: false) == viewport.picture)
            #expect(viewport.enlargedSize(of: viewport.picture, isVector: false) == nil)
            let drawn = try #require(viewport.enlargedSize(of: viewport.picture, isVector: true))
            #expect(drawn == PixelSize(width: 4096, height: 2048))
            #expect(viewport.enlargedSize(of: drawn, isVector: true) == nil)
        }

        @Test func thePanelIsReadFourTimesASecondAndNotAtRest() {
            var pace = RefreshPace()
            let times = [
                pace.note(now: .seconds(1)), pace.note(now: .seconds(1)),
                pace.refreshed(now: .seconds(1), hasChanged: true),
                pace.refreshed(now: .milliseconds(1250), hasChanged: false), pace.note(now: .milliseconds(1300)),
            ]
            #expect(times == [.seconds(1), nil, .milliseconds(1250), nil, .milliseconds(1500)])
        }

        /// After a thousand failures, the reasons of later ones were once not kept.
        @Test func thePictureBookKeepsTheNewestFailures() async {
            let book = PictureBook()
            let transport = FakeTransport()
            transport.answerAll { _ in .status(404) }
            var configuration = ImageManager.Configuration()
            configuration.disk = nil
            configuration.interceptors = [book]
            let manager = ImageManager(configuration: configuration, transport: transport)
            defer { manager.shutDown() }
            func url(_ number: Int) -> String { "https://images.example.com/\(number).png" }
            for number in 0...1000 { _ = try? await manager.image(for: ImageRequest(url(number))) }
            #expect(book.failure(of: url(1000))?.code == .badStatus)
            #expect(book.failure(of: url(1)) != nil && book.failure(of: url(0)) == nil)
        }

        @Test func noTwoNumbersHaveTheSameColour() {
            #expect(Set((0..<NumberedOrigin.count).map(NumberedOrigin.color)).count == NumberedOrigin.count)
            for number in [0, 7, 499] {
                let color = NumberedOrigin.color(number)
                #expect(CellSight([color], of: number) == .picture)
                #expect(CellSight([NumberedOrigin.background], of: number) == .background)
                #expect(
                    CellSight([NumberedOrigin.color(number / 2 + 1)], of: number)
                        == .wrong(NumberedOrigin.color(number / 2 + 1)))
                let half = zip(color, NumberedOrigin.background).map { UInt8((Int($0) + Int($1)) / 2) }
                #expect(CellSight([half], of: number) == .fading)
            }
        }
    }

    /// The gallery program, on a virtual display.
    @Suite(.serialized, .enabled(if: VirtualDisplay.isAvailable, "Xvfb is not installed: `make test-programs` does it"))
    struct GalleryTests {
        /// Scrolls through five hundred pictures, of which some are missing, fast, back and in jumps. The script
        /// compares the pixels of all cells with the expected ones and exits with 1 if any is wrong.
        @Test func noCellOfTheGalleryEverShowsAnothersPicture() throws {
            let probe = try Probe(program: "webimage-gallery", ["--script", "scroll"], last: "end of scroll")
            #expect(probe.facts("looks").first?.hasSuffix("wrong 0") == true)
            let warm = try #require(probe.facts("warm").first.flatMap { Int($0) })
            #expect(warm >= 40)
            print("gallery:", probe.lines.joined(separator: "\ngallery: "))
        }
    }
#endif
