import FleetTesting
import Testing
import WebImage

@testable import ServerGrammar

@Suite struct OptionTests {
    private func options(
        _ path: String, _ change: (inout URLGrammar) -> Void = { _ in }
    ) throws -> ProcessingOptions {
        var grammar = URLGrammar()
        grammar.now = { 1_000_000 }
        change(&grammar)
        return try grammar.parse(target: "/_/\(path)/plain/http://a.b/c").options
    }

    @Test func resizeTakesAllItsArguments() throws {
        let geometry = try options("rs:fill-down:300:400:1:True:nowe:10:0.5").geometry
        #expect(geometry.resizing == .fillDown)
        #expect([geometry.width, geometry.height] == [300, 400])
        #expect(geometry.enlarge)
        #expect(geometry.extend)
        #expect(geometry.extendGravity == .init(.northWest, x: 10, y: 0.5))
    }

    @Test func emptyArgumentsAreSkippedAndLaterOptionsWin() throws {
        let geometry = try options("s:300:400/rs:fill::500/w:7").geometry
        #expect(geometry.resizing == .fill)
        #expect([geometry.width, geometry.height] == [7, 500])
        #expect(try options("rs:fit:1:1::::").geometry.extend == false)
        #expect(try options("wm:0.5::::2").watermark.scale == 2)
    }

    /// imgproxy takes every number of 64 bits; it enlarges nothing that was not asked for.
    @Test func numbersMayBeAsLargeAsInImgproxy() throws {
        let geometry = try options("s:2000000:9223372036854775807/pd:3000000000/min-width:99999999").geometry
        let longest = ImgproxyGeometry.longestSide
        #expect(
            [geometry.width, geometry.height, geometry.minWidth, geometry.padding.left].allSatisfy { $0 == longest })
        #expect(try options("exp:1780000000000").expires > 1 << 39)
        #expect(throws: RequestRefusal.self) { try options("w:9223372036854775808") }
    }

    @Test(arguments: [
        ("c:0.5:100:fp:0.25:0.75", "c"), ("crop:0.5:100:fp:0.25:0.75", "crop"),
    ]) func cropHasAGravityOfItsOwn(path: String, name: String) throws {
        let geometry = try options(path).geometry
        #expect([geometry.cropWidth, geometry.cropHeight] == [0.5, 100])
        #expect(geometry.cropGravity == .init(.focusPoint, x: 0.25, y: 0.75))
        #expect(geometry.gravity == .init(.center))
    }

    @Test(arguments: [
        ("pd:10", [10, 10, 10, 10]), ("pd:10:20", [10, 20, 10, 20]), ("pd:10:20:30", [10, 20, 30, 20]),
        ("pd:10:20:30:40", [10, 20, 30, 40]), ("pd::20", [0, 20, 0, 20]), ("padding:1:::4", [1, 1, 1, 4]),
    ]) func paddingCopiesSides(path: String, sides: [Int]) throws {
        let padding = try options(path).geometry.padding
        #expect([padding.top, padding.right, padding.bottom, padding.left] == sides)
    }

    @Test(arguments: [("bg:f00", 255, 0, 0), ("bg:0a141e", 10, 20, 30), ("bg:10:20:30", 10, 20, 30)])
    func backgroundsAreHexOrNumbers(path: String, red: UInt8, green: UInt8, blue: UInt8) throws {
        #expect(try options(path).background == RGBColor(red: red, green: green, blue: blue))
        #expect(try options(path + "/bg:").background == nil)
    }

    @Test func quartersAndFlips() throws {
        #expect(try options("rot:450").geometry.rotation == 1)
        #expect(try options("rot:-90").geometry.rotation == 3)
        let flipped = try options("fl:1:1/fl:0:1").geometry
        #expect([flipped.flipsHorizontally, flipped.flipsVertically] == [false, true])
    }

    @Test func omittedArgumentsKeepEarlierValues() throws {
        let mark = try options("wm:0.5:soea:10:20:0.3/wm:1").watermark
        #expect(mark.opacity == 1 && mark.scale == 0.3 && mark.place == .init(.southEast, x: 10, y: 20))
        #expect(try options("wm:0.5:re/wm:1:no").watermark.tiles == false)
        let crop = try options("c:100:50:no:3:4/c:80/c:70:50:so").geometry
        #expect([crop.cropWidth, crop.cropHeight] == [70, 50])
        #expect(crop.cropGravity == .init(.south, x: 3, y: 4))
        #expect(try options("g:nowe:10:20/g:noea").geometry.gravity == .init(.northEast, x: 10, y: 20))
        #expect(try options("g:nowe:10:20/g:sm").geometry.gravity == .init(.smart))
        let flipped = try options("fl:1/fl::1").geometry
        #expect([flipped.flipsHorizontally, flipped.flipsVertically] == [true, true])
        #expect(try options("pd:10/pd::20").geometry.padding == .init(top: 10, right: 20, bottom: 10, left: 20))
        let trim = try options("t:10:ff0000:1/t:5").trim
        #expect(trim?.threshold == 5 && trim?.color == nil && trim?.equalHorizontally == true)
    }

    @Test func anEmptyTrimSwitchesTrimmingOffButKeepsEqualSides() throws {
        #expect(try options("t:10:ff0000:1/t:").trim == nil)
        let again = try options("t:10:ff0000:1/t:/t:5").trim
        #expect(again == .init(threshold: 5, equalHorizontally: true))
        #expect(try options("t:10/t:::0:1/t:5").trim == .init(threshold: 5, equalVertically: true))
    }

    @Test func aPresetMayBeUsedAgainButNotByItself() throws {
        func size(_ path: String) throws -> [Int] {
            let geometry = try options(path) {
                try? $0.addPresets(["default=pr:thumb", "thumb=w:50", "a=pr:thumb/h:30", "loop=h:7/pr:loop", "# none"])
            }.geometry
            return [geometry.width, geometry.height]
        }
        #expect(try size("w:100/pr:thumb") == [50, 0])
        #expect(try size("pr:thumb/w:100/pr:a") == [50, 30])
        #expect(try size("pr:loop") == [50, 7])
    }

    @Test func filtersAndOutput() throws {
        let read = try options(
            "t:10:ff0000:1:0/bl:1.5/sh:0.7/pix:4/wm:0.5:soea:10:20:0.3/q:50/fq:png:10:webp:20/mb:9/ph:t")
        #expect(read.trim?.threshold == 10)
        #expect(read.trim?.color == RGBColor(red: 255, green: 0, blue: 0))
        #expect(read.trim?.equalHorizontally == true)
        #expect([read.blur, read.sharpen] == [1.5, 0.7])
        #expect(read.pixelate == 4)
        #expect(read.watermark.place == .init(.southEast, x: 10, y: 20))
        #expect(read.watermark.scale == 0.3)
        #expect(read.quality == 50)
        #expect(read.formatQuality == [.png: 10, .webp: 20])
        #expect(read.maxBytes == 9)
        #expect(read.preserveHDR == true)
        #expect(read.stripMetadata == nil)
    }

    @Test func smIsAGravityAndAnOption() throws {
        let read = try options("g:sm/sm:0")
        #expect(read.geometry.gravity.kind == .smart)
        #expect(read.stripMetadata == false)
    }

    @Test func anOddFlagIsFalseWithAWarning() throws {
        let read = try options("el:1/el:yes")
        #expect(!read.geometry.enlarge)
        #expect(read.warnings.count == 1)
    }

    @Test func fileNamesAreTextOrBase64() throws {
        #expect(try options("fn:a%20b").filename == "a%20b")
        #expect(try options("fn:YSBi:1").filename == "a b")
    }

    @Test(arguments: [
        "w:-1", "w:1.5", "w:nan", "w:1e9", "w:99999999999999999999", "w:", "w:1:2", "rs:fat:1:1",
        "rs:fit:1:1:0:0:ce:0:0:0",
        "z:0", "z:-1", "z:nan", "z:inf", "dpr:0", "dpr:1e9", "g:xx", "g:sm:1", "g:fp", "g:fp:2:0", "g:ce:nan",
        "g:ce:0:0:0",
        "ex:1:sm", "exar:1:sm", "c:-1", "c:nan", "c:1:1:ce:0:0:0", "t:-1", "t:x", "t:1:12345", "pd:-1", "pd:1:2:3:4:5",
        "rot:45", "fl:1:1:1", "bg:12", "bg:1:2", "bg:256:0:0", "bl:-1", "bl:inf", "sh:nan", "pix:-1", "wm:2", "wm:1:sm",
        "wm:1:fp", "wm:1:ce:0:0:-1", "q:101", "q:-1", "fq:png", "fq:nope:1", "mb:-1", "f:nope", "f:JPG", "pr:nope",
        "skp:nope",
        "c:10:", "c::10", "c:10:10:", "c:10:10:no:", "c:10:10:no::1", "g:", "g:ce:", "g:ce::1", "ex:1:", "ex:1:no:",
        "exar:1:", "rs:fit:1:1:0:1:", "s:1:1:0:1:no:", "z:1:", "wm:", "bg:1::3", "fq:png:", "skp:", "rot:", "exp:",
        "exp:999999", "exp:x", "nope:1", ":1", "blurhash:4:3", "cp:1", "up:1", "obj:face", "eth",
    ]) func invalidOptionsAreRefused(path: String) {
        let refusal = #expect(throws: RequestRefusal.self) { try options(path) }
        #expect(refusal?.status == 404)
        #expect(refusal?.text == "Invalid URL")
    }

    @Test func veryLongArgumentsAreRefusedWithAShortDetail() {
        for name in ["w", "z", "g", "f", "bg", "nope", "pr", "t", "crop"] {
            let refusal = #expect(throws: RequestRefusal.self) {
                try options("\(name):" + String(repeating: "9", count: 100_000))
            }
            #expect((refusal?.detail.count ?? .max) < 300)
        }
    }

    @Test func expiryTimesOfTheFutureZeroAndBelowAreAccepted() throws {
        #expect(try options("exp:1000001").expires == 1_000_001)
        for path in ["exp:0", "exp:-1"] { #expect(try options(path).expires == 0) }
    }

    @Test func securityOptionsNeedLeave() throws {
        for path in ["msr:1", "msfs:1", "maf:1", "mafr:1", "mrd:1", "max_result_dimension:1"] {
            let refusal = #expect(throws: RequestRefusal.self) { try options(path) }
            #expect(refusal?.status == 403)
            #expect(refusal?.text == "Invalid URL")
        }
        let read = try options("mrd:5/msr:1.5") { $0.allowsSecurityOptions = true }
        #expect(read.security.resultDimension == 5)
        let none = try options("mrd:-1/msfs:-1") { $0.allowsSecurityOptions = true }
        #expect([none.security.resultDimension, none.security.sourceFileSize] == [0, 0])
        #expect(read.security.sourceResolution == 1.5)
    }

    @Test func onlyListedNamesAreAllowedAndPresetsMayUseAll() throws {
        let limit: (inout URLGrammar) -> Void = {
            $0.allowedOptions = ["w", "pr"]
            try? $0.addPresets(["small=height:20"])
        }
        #expect(try options("w:1/pr:small", limit).geometry.height == 20)
        #expect(throws: RequestRefusal.self) { try options("width:1", limit) }
    }

    @Test func presetsApplyInOrderAndTheDefaultOneFirst() throws {
        let presets: (inout URLGrammar) -> Void = {
            try? $0.addPresets(["default=q:40/w:9", "thumb=rs:fill:100:100/q:60", "loop=pr:loop/h:3"])
        }
        #expect(try options("h:5", presets).quality == 40)
        #expect(try options("pr:thumb", presets).quality == 60)
        let both = try options("pr:loop:thumb/w:1", presets)
        #expect([both.geometry.width, both.geometry.height] == [1, 100])
    }

    @Test func onlyPresetsMeansThatTheFirstPartListsThem() throws {
        var grammar = URLGrammar()
        try grammar.addPresets(["thumb=w:100", "sharp=sh:1"])
        grammar.onlyPresets = true
        let parsed = try grammar.parse(target: "/_/thumb:sharp/plain/http://a.b/c@png")
        #expect(parsed.options.geometry.width == 100)
        #expect(parsed.options.sharpen == 1)
        #expect(parsed.options.format == .png)
        #expect(throws: RequestRefusal.self) { try grammar.parse(target: "/_/w:1/plain/http://a.b/c") }
    }

    @Test(arguments: ["thumb", "=w:1", "thumb=", "thumb=w", "thumb=nope:1", "thumb=w:-1", "a=pr:b"])
    func brokenPresetsAreNamed(text: String) {
        var grammar = URLGrammar()
        #expect(throws: PresetError.self) { try grammar.addPresets([text]) }
    }

    @Test func equivalentOptionsHaveTheSameKey() throws {
        let one = try options("rs:fill:300:400:0:0/q:50/f:jpg").canonicalText
        #expect(one == (try options("format:jpeg/quality:50/h:400/w:300/rt:fill").canonicalText))
        #expect(one == (try options("rs:fill:300:400/q:50/f:jpg/fn:x/att:1/exp:2000000").canonicalText))
        let others = [
            "q:51/f:jpg", "q:50/f:png", "q:50/f:jpg/cb:1", "q:50/f:jpg/sm:0", "q:50/f:jpg/pd:1", "q:50/f:jpg/bl:1",
        ]
        for other in others { #expect(one != (try options("rs:fill:300:400/" + other).canonicalText)) }
    }

    @Test func randomPathsNeverCrash() {
        var random = SeededNumbers(seed: 7)
        let pieces = [
            "w:", "rs:", "fit", ":", "/", "plain/", "%3A", "%", "@", ".", "png", "http:/", "//", "1", "-", "e9", "sm",
            "g:fp", "é",
            "\u{0}", "pr:", "wm:.5:re:", "=", "aHR0",
        ]
        var grammar = URLGrammar()
        try? grammar.addPresets(["default=w:1"])
        for _ in 0..<20_000 {
            let path = (0..<Int.random(in: 0..<12, using: &random))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
            _ = try? grammar.parse(target: "/_/" + path.joined())
        }
    }
}
