import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct TransformGrammarTests {
    private static let mark = try? Image(size: PixelSize(3, 2)) { bytes in bytes[0] = 9 }
    private static let resources = TransformResources(
        image: { name throws(WebImageError) in
            guard name == "logo: 1|2.png", let mark else {
                throw WebImageError(.fileNotFound, "there is no picture \(name)")
            }
            return mark
        },
        cube: { name throws(WebImageError) in
            guard name == "a.cube" else { throw WebImageError(.fileNotFound, "there is no cube \(name)") }
            return try ColorCube(side: 2) { $0 }
        })

    /// Texts in their canonical form, in which transforms are printed.
    static let texts = [
        "", "resize:320x200", "resize:320x", "resize:x200:cover:upscale", "resize:320x200:cover:at=top-left",
        "resize:9x9:fill:filter=box", "crop:32x20+1+2", "crop:32.5x20-1.5+2", "crop:32x20", "crop:32x20:at=smart",
        "crop:square", "crop:circle:at=0.25,0.75", "flip:x", "flip:xy", "turn:90", "turn:270", "rotate:12.5",
        "rotate:-30:keep:color=#ff000080", "trim:10", "trim:3.5:color=#ffffff:equal-x:equal-y:imgproxy", "pad:10",
        "pad:1,2,3,4:color=#000000", "extend:400x300:at=bottom", "extend:400x:color=#123456", "background:#ff8800",
        "round:24", "round:1,2,3,4", "round:max", "round:9.5:border=2:color=#ff0000", "blur:8", "blur:0.5:cut=0.2",
        "sharpen:1", "sharpen:2:amount=0.5:threshold=0.1", "sharpen-lightness:2", "pixelate:12", "tint:#ff0000",
        "tint:#ff000080:soft-light",
        "gray", "gray:0.5", "sepia", "invert", "brightness:-0.25", "contrast:1.5", "saturation:0", "hue:90",
        "gamma:2.2", "opacity:0.5", "matrix:1,0,0,0,0,0,1,0,0,0,0,0,1,0,0.5,0,0,0,1,0", "lut:a.cube", "lut:a.cube:0.5",
        "vignette:0.5", "vignette:1:start=0:color=#ffffff", "watermark:logo%3a 1%7c2.png",
        "watermark:logo%3a 1%7c2.png:tile:at=bottom-right:x=10:y=-4:scale=0.2:opacity=0.5:mode=multiply",
        "imgproxy:300x200:fill:enlarge:extend:exar:min=5x6:z=1.5,2:dpr=2:g=soea,10,0.5:c=0.5,100:cg=fp,0.1,0.2:exg=no:exarg=so:pd=1,2,3,4:mrd=500:rot=90:fl=xy",
        "imgproxy-canvas:300x200:extend", "resize:320x200:cover|blur:8|round:24",
    ]

    @Test(arguments: ["blur:0x10", "opacity:0x1p-1", "blur:+8", "blur:inf", "blur:nan", "crop:9x9:at=0x1,0"])
    func onlyDecimalNumbersAreRead(text: String) {
        #expect(throws: TransformSyntaxError.self) { try ImageTransform.parse(text, resources: Self.resources) }
    }

    @Test(arguments: texts) func aTextPrintsBackTheSame(text: String) throws {
        let chain = try ImageTransform.parse(text, resources: Self.resources)
        #expect(ImageTransform.text(of: chain) == text)
        #expect(try ImageTransform.parse(ImageTransform.text(of: chain), resources: Self.resources) == chain)
    }

    @Test func spacesAroundStepsAreIgnored() throws {
        let chain = try ImageTransform.parse("  resize:320x200:cover | blur:8|  round:24 ")
        #expect(ImageTransform.text(of: chain) == "resize:320x200:cover|blur:8|round:24")
        for text in [" ", "gray| |gray", "gray |"] {
            let error = #expect(throws: TransformSyntaxError.self) { try ImageTransform.parse(text) }
            #expect(error?.message == "a step is missing here", "\(text)")
        }
        let error = #expect(throws: TransformSyntaxError.self) { try ImageTransform.parse("gray | blurr:3") }
        #expect(error?.range == 7..<12)
        // Those of a name are not.
        let resources = TransformResources(
            image: Self.resources.image,
            cube: { _ throws(WebImageError) in try Self.resources.cube("a.cube") })
        let named = try ImageTransform.parse("lut:a b%20%20", resources: resources)
        #expect(ImageTransform.text(of: named) == "lut:a b%20%20")
    }

    @Test func everyKnownTransformIsAmongTheTexts() {
        let names = ImageTransform.usages.map { $0.prefix { $0.isLetter || $0 == "-" } }
        for name in names {
            #expect(Self.texts.contains { $0.split(separator: "|").contains { $0.hasPrefix(name) } }, "\(name)")
        }
        #expect(names.count == 30)
    }

    /// A text, a part of its error message, and the part of the text that is marked.
    @Test(arguments: [
        ("blurr:3", "there is no transform \"blurr\"", "blurr"), ("gray|", "a step is missing", ""),
        ("|gray", "a step is missing", ""), ("gray||gray", "a step is missing", ""), ("blur", "blur needs a sigma", ""),
        ("blur:x", "a number from 0 to 1000", "x"), ("blur:nan", "a number from 0 to 1000", "nan"),
        ("blur:-1", "a number from 0 to 1000", "-1"), ("gray|blur:1e9", "a number", "1e9"),
        ("blur:3:4", "does not know \"4\"", "4"),
        ("blur:3:cut=2", "a number from", "2"), ("blur:3:cat=2", "has no \"cat\"", "cat"),
        ("blur:3:cut=0.2:cut=0.2", "takes only one \"cut\"", "cut"),
        ("blur:3:", "an empty argument", ""),
        ("resize:0x5", "a size must be written as", "0x5"), ("resize:5", "a size must be written as", "5"),
        ("resize:x", "a size must be written as", "x"), ("resize:5x5:at=middle", "a place must be center", "middle"),
        ("resize:5x5:at=2,0", "a place must be center", "2,0"),
        ("resize:5x5:filter=fast", "a filter must be one of", "fast"),
        ("resize:5x5:covers", "does not know \"covers\"", "covers"), ("crop:round", "a crop must be a size", "round"),
        ("crop:5x5+1+1:at=top", "takes no at=", "top"), ("crop:5x", "a size must be written as 320x200", "5x"),
        ("crop:5+5+1+1", "a crop must be a size", "5+5+1+1"), ("crop:5x5x1x1", "a size must be written", "5x5x1x1"),
        ("imgproxy:5x5:pd=1.5,0,0,0", "a whole number of pixels", "1.5,0,0,0"),
        ("flip:z", "a flip must be x", "z"), ("turn:45", "rotate takes any angle", "45"),
        ("pad:1,2", "takes 1 or 4 numbers", "1,2"),
        ("pad:1.5", "whole pixels", "1.5"), ("tint:red", "#rrggbb", "red"),
        ("tint:#fff:lighter", "a blend mode must be one of", "lighter"),
        ("matrix:1,2", "takes 20 numbers", "1,2"), ("trim:5:color=#ffffff80", "must be opaque", "#ffffff80"),
        ("lut:b.cube", "there is no cube b.cube", "b.cube"),
        ("watermark:no.png", "there is no picture no.png", "no.png"),
        ("pixelate:0", "a whole number from 1", "0"), ("imgproxy:5x5:g=xx", "a gravity must be ce", "xx"),
        ("imgproxy:5x5:rot=45", "a multiple of 90", "45"), ("sepia:2", "a number from 0 to 1", "2"),
        ("brightness", "brightness needs an amount", ""),
        ("invert:1", "does not know \"1\"", "1"), ("größe|blur:2", "there is no transform", "größe"),
    ])
    func anErrorHasAMessageAndTheRangeOfText(text: String, message: String, marked: String) throws {
        let error = #expect(throws: TransformSyntaxError.self) {
            try ImageTransform.parse(text, resources: Self.resources)
        }
        let found = try #require(error)
        #expect(found.message.contains(message), "\(found.message)")
        let part = Array(text.utf8)[found.range]
        #expect(String(decoding: part, as: UTF8.self) == marked)
        #expect(found.excerpt.hasPrefix(text + "\n"))
    }

    @Test func theMarkStandsUnderTheCharactersAlsoBehindLongOnes() throws {
        let error = #expect(throws: TransformSyntaxError.self) { try ImageTransform.parse("pad:é|blurr") }
        #expect(error?.excerpt == "pad:é|blurr\n    ^")
        let second = #expect(throws: TransformSyntaxError.self) { try ImageTransform.parse("gray|blurr:é") }
        #expect(second?.excerpt == "gray|blurr:é\n     ^^^^^")
    }

    @Test(arguments: [("a%3Ab%7c.png", "a:b|.png"), ("50%+5.png", "50%+5.png"), ("9%-0%4", "9%-0%4"), ("%%41", "%A")])
    func onlyDigitsBehindAPercentStandForACharacter(text: String, name: String) {
        let resources = TransformResources(
            image: { name throws(WebImageError) in throw WebImageError(.fileNotFound, name) },
            cube: TransformResources.none.cube)
        let error = #expect(throws: TransformSyntaxError.self) {
            try ImageTransform.parse("watermark:" + text, resources: resources)
        }
        #expect(error?.message == name)
    }

    /// No text that a user types crashes the parser.
    @Test func anyTextIsReadOrRefused() throws {
        var random = SeededGenerator(seed: 11)
        let pieces =
            Self.texts.filter { !$0.isEmpty } + [
                "|", ":", "=", ",", "x", "+", "-", "#", "%", "%4", "é", "\u{0}", "1e309", "-0", "00",
                "9999999999999999999",
                " ", "\n", "nan", "inf",
            ]
        for _ in 0..<4000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                var piece = Array((pieces.randomElement(using: &random) ?? "").unicodeScalars)
                if Bool.random(using: &random), !piece.isEmpty {
                    piece.remove(at: Int.random(in: 0..<piece.count, using: &random))
                }
                text.unicodeScalars.append(contentsOf: piece)
            }
            do throws(TransformSyntaxError) {
                let chain = try ImageTransform.parse(text, resources: Self.resources)
                let printed = ImageTransform.text(of: chain)
                let again = try ImageTransform.parse(printed, resources: Self.resources)
                #expect(again == chain && ImageTransform.text(of: again) == printed, "\(text)")
            } catch {
                #expect(error.range.upperBound <= text.utf8.count && !error.message.isEmpty)
                _ = error.excerpt
            }
        }
    }

    @Test func keysAreMadeOfTheValues() throws {
        let other = try Image(size: PixelSize(3, 2)) { bytes in bytes[0] = 10 }
        let mark = try #require(Self.mark)
        #expect(ImageTransform.watermark(mark) == .watermark(mark, name: "another name"))
        #expect(ImageTransform.watermark(mark) != .watermark(other))
        let cube = try ColorCube(side: 2) { $0 }
        let second = try ColorCube(side: 2) { $0 * 0.5 }
        #expect(ImageTransform.lookup(cube) == .lookup(cube, name: "b"))
        #expect(ImageTransform.lookup(cube).key != ImageTransform.lookup(second).key)
        #expect(ImageTransform.blur(sigma: 2) != .blur(sigma: 2, cut: 0.2))
        #expect(ImageTransform.custom(id: "a:b") { $0 } != .custom(id: "a%3ab") { $0 })
        #expect(
            ImageTransform.custom(id: "a|gray") { $0 }.key
                != ImageTransform.text(of: [.custom(id: "a") { $0 }, .gray()]))
        #expect(Set([ImageTransform.gray(), .gray(1), .gray(0.5)]).count == 2)
    }
}
