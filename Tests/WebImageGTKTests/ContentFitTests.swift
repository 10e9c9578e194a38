#if GTK
    import Testing
    import WebImageCore

    @testable import WebImageGTK

    @Suite struct ContentFitTests {
        @Test(
            arguments: [
                (
                    "larger than the area", ContentFit.scaleDown, (200.0, 100.0),
                    ContentFit.Area(x: 0, y: 25, width: 100, height: 50)
                ),
                ("smaller than the area", .scaleDown, (20, 10), .init(x: 40, y: 45, width: 20, height: 10)),
                ("smaller, contained", .contain, (20, 10), .init(x: 0, y: 25, width: 100, height: 50)),
                ("covering", .cover, (20, 10), .init(x: -50, y: 0, width: 200, height: 100)),
                ("larger, in its size", .none, (300, 100), .init(x: -100, y: 0, width: 300, height: 100)),
                ("stretched", .fill, (20, 10), .init(x: 0, y: 0, width: 100, height: 100)),
                ("without a size", .contain, (0, 0), .init(x: 0, y: 0, width: 100, height: 100)),
            ])
        func aPictureIsPlacedInASquare(
            label: String, fit: ContentFit, natural: (Double, Double), expected: ContentFit.Area
        ) {
            #expect(fit.placed((natural.0, natural.1), in: (100, 100)) == expected, "\(label)")
        }

        @Test(
            arguments: [
                (ContentFit.fill, ImageFit?.some(.fill)), (.contain, .contain), (.cover, .cover),
                (.scaleDown, .contain),
                (.none, nil),
            ])
        func eachContentFitHasItsDecodedFit(fit: ContentFit, decoded: ImageFit?) { #expect(fit.decodedFit == decoded) }
    }
#endif
