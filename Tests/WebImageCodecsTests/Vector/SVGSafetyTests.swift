#if SVG
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    @Suite struct SVGSafetyTests {
        private static let red = "<rect width='8' height='8' fill='red'/>"

        @Test func nothingOutsideTheDocumentIsLoaded() throws {
            let server = try OriginServer()
            let folder = try ForbiddenFiles()
            let picture = Drawn.svg("width='8' height='8'", "<g id='a'>\(Self.red)</g>")
            try folder.write(picture, "a.svg")
            try folder.write(Array("rect { fill: red }".utf8), "a.css")
            server.serve(under: "/") { _ in OriginResponse(body: picture) }
            let box = "<rect width='8' height='8' fill='none'/>"
            for place in [
                "file://\(folder.path)/", "\(folder.path)/", server.url("/"), "../../../..\(folder.path)/", "",
            ] {
                let documents = [
                    "<image width='8' height='8' href='\(place)a.svg'/>",
                    "<image width='8' height='8' xlink:href='\(place)a.svg'/>",
                    "<use href='\(place)a.svg#a'/>", "<use xlink:href='\(place)a.svg#a'/>",
                    "<filter id='f'><feImage href='\(place)a.svg'/></filter><g filter='url(#f)'>\(box)</g>",
                    "<style>@import url('\(place)a.css');</style>\(box)",
                    "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='\(place)a.svg'/>",
                    "<rect width='8' height='8' fill='url(\(place)a.svg#a)'/>",
                ].map { Drawn.svg("width='8' height='8'", $0) }
                let linked = Drawn.svg(
                    "width='8' height='8'", box, before: "<?xml-stylesheet type='text/css' href='\(place)a.css'?>")
                let entity = Drawn.svg(
                    "width='8' height='8'", "&x;",
                    before: "<!DOCTYPE svg [<!ENTITY x SYSTEM '\(place)a.svg'>]>")
                let subset = Drawn.svg(
                    "width='8' height='8'", "&x;", before: "<!DOCTYPE svg SYSTEM '\(place)a.svg'>")
                for document in documents + [linked, entity, subset] {
                    let result = CoderDecode(SVGCoder(), document)
                    #expect(
                        result.error != nil || result.pixels.bytes.allSatisfy { $0 == 0 },
                        "\(String(decoding: document, as: UTF8.self))")
                }
            }
            #expect(server.hits("/a.svg") == 0 && server.hits("/a.css") == 0)
        }

        @Test func bitmapsInTheDocumentAreDrawn() throws {
            let image = try Image(size: PixelSize(width: 8, height: 8), alpha: .opaque) { bytes in
                for at in bytes.indices { bytes[at] = at % 4 == 0 || at % 4 == 3 ? 255 : 0 }
            }
            let png = try PNGCoder().encode(image, as: .png, EncodeOptions())
            let link = "data:image/png;base64,\(Base64Text.text(png))"
            let bytes = Drawn.svg("width='8' height='8'", "<image width='8' height='8' xlink:href='\(link)'/>")
            #expect(CoderDecode(SVGCoder(), bytes).pixel(4, 4) == [255, 0, 0, 255])
            // A bitmap over the limit is left out. The document's own size is within the limit.
            let tight = DecodeOptions(limits: DecodeLimits(pixels: 63))
            let small = VectorRaster(part: PixelRect(x: 0, y: 0, width: 8, height: 8), size: .init(width: 4, height: 4))
            let left = CoderDecode(SVGCoder(), bytes, options: tight, raster: small)
            #expect(left.error == nil && left.pixel(2, 2) == [0, 0, 0, 0])
            let nested = Base64Text.text(Drawn.svg("width='8' height='8'", Self.red))
            for type in ["image/svg+xml", ""] {
                let image = "<image width='8' height='8' href='data:\(type);base64,\(nested)'/>"
                let result = CoderDecode(SVGCoder(), Drawn.svg("width='8' height='8'", image))
                #expect(result.error == nil && result.pixel(4, 4) == [0, 0, 0, 0])
            }
        }

        @Test func chainsOfReferencesHaveAStackThatIsDeepEnough() throws {
            // With the usual stack of 8 MiB, a chain of 1000 references overflows the stack.
            let links = (0..<3000).map { "<g id='a\($0)'><use href='#a\($0 + 1)'/></g>" }.joined()
            let end = "<g id='a3000'>\(Self.red)</g>"
            let bytes = Drawn.svg("width='8' height='8'", "<defs>\(links)\(end)</defs><use href='#a0'/>")
            let result = CoderDecode(SVGCoder(), bytes)
            #expect(result.error == nil && result.pixel(4, 4) == [255, 0, 0, 255])
        }

        @Test func chainsThatNoStackIsDeepEnoughForAreRefused() throws {
            let links = (0..<17_000).map { "<g id='a\($0)'><use href='#a\($0 + 1)'/></g>" }.joined()
            let bytes = Drawn.svg("width='8' height='8'", "<defs>\(links)</defs><use href='#a0'/>")
            #expect(CoderDecode(SVGCoder(), bytes).error?.code == .limitExceeded)
            // As many elements that do not form chains are accepted.
            let many = String(repeating: "<g><use href='#a'/></g>", count: 17_000)
            let flat = Drawn.svg("width='8' height='8'", "<defs><g id='a'>\(Self.red)</g></defs>\(many)")
            #expect(CoderDecode(SVGCoder(), flat).pixel(4, 4) == [255, 0, 0, 255])
        }

        @Test func layersWithinEachOtherAreHeldAgainstTheCanvas() throws {
            let count = 200
            let start = String(repeating: "<g opacity='.99'>\(Self.red)", count: count)
            let content = start + String(repeating: "</g>", count: count)
            let small = CoderDecode(SVGCoder(), Drawn.svg("width='8' height='8'", content))
            #expect(small.error == nil && small.pixel(4, 4)[0] == 255)
            let large = CoderDecode(SVGCoder(), Drawn.svg("width='8000' height='8000'", content))
            #expect(large.error?.code == .limitExceeded && large.format == nil)
            // The same with a style sheet.
            let plain = content.replacing(" opacity='.99'", with: "")
            let styled = Drawn.svg("width='8000' height='8000'", "<style>g { opacity: .9 }</style>" + plain)
            #expect(CoderDecode(SVGCoder(), styled).error?.code == .limitExceeded)
        }

        @Test(arguments: [
            ("<!DOCTYPE svg [<!ENTITY % a 'b'>]>", ""), ("<!DOCTYPE svg [%a;]>", ""),
            ("<?xml version='1.0' encoding='UTF-7'?>", ""), ("<?xml version='1.0' encoding='IBM037'?>", ""),
            ("", "<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='data:text/xml,%3Cg/%3E'/>"),
            ("", "<include xmlns='http://www.w3.org/2001/XInclude' href='&#100;ata:text/xml,%3Cg/%3E'></include>"),
        ])
        func constructsThatMayHideElementsAreRefused(_ before: String, _ content: String) throws {
            let bytes = Drawn.svg("width='8' height='8'", content, before: before)
            #expect(CoderDecode(SVGCoder(), bytes).error?.code == .unsupportedFeature)
        }

        /// Infinite numbers, and zero times infinity. No estimate may become a value that is not a number.
        @Test(arguments: [
            "<rect width='1e400' height='9' stroke='red' stroke-dasharray='1e400'/>",
            "<rect width='9' height='9' stroke='red' stroke-dasharray='0e400 1e400'/>",
            "<filter id='f'><feTurbulence numOctaves='0e400'/></filter><rect width='9' height='9' filter='url(#f)'/>",
            "<pattern id='p' width='0' height='9'><rect width='1e400' height='1e400'/></pattern>"
                + "<rect width='1e400' height='9' fill='url(#p)'/>",
            "<g transform='scale(1e400) scale(0)'><circle r='1e400'/></g>",
            "<text font-size='1e400' stroke-width='1e400' stroke='red'>a</text>",
        ])
        func infiniteNumbersAreDrawnOrOverALimit(_ content: String) {
            let result = CoderDecode(SVGCoder(), Drawn.svg("width='8' height='8'", content))
            #expect(result.error == nil || result.error?.code == .limitExceeded, "\(String(describing: result.error))")
        }

        /// A document with too many elements is refused by their number, before anything is made of them.
        @Test func tooManyElementsAreRefused() {
            let bytes = Drawn.svg("width='8' height='8'", String(repeating: "<a/>", count: 400_000))
            #expect(CoderDecode(SVGCoder(), bytes).error?.code == .limitExceeded)
        }

        @Test func bombsAreRefused() throws {
            let bytes = Drawn.svg("width='8' height='8'", Self.red)
            let byRatio = DeflateWriter.gzipBomb(bytes + [0x20], repeats: 5000)
            #expect(byRatio.count < 10_000)
            #expect(CoderDecode(SVGCoder(), byRatio).error?.code == .limitExceeded)
            let small = DecodeOptions(limits: DecodeLimits(bytes: 5000))
            let bySize = CoderDecode(SVGCoder(), DeflateWriter.gzipBomb(bytes + [0x20], repeats: 100), options: small)
            #expect(bySize.error?.code == .limitExceeded)
            let twice = DeflateWriter.gzip(DeflateWriter.gzip(bytes))
            #expect(CoderDecode(SVGCoder(), twice).error?.code == .corruptData)
            let deep = Drawn.svg("", String(repeating: "<g>", count: 400) + String(repeating: "</g>", count: 400))
            #expect(CoderDecode(SVGCoder(), deep).error?.code == .corruptData)
        }

        @Test func limitsAreLookedAtBeforeADrawing() throws {
            let bytes = Drawn.svg("width='40' height='30'", Self.red)
            for limits in [DecodeLimits(pixels: 1199), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
                let result = CoderDecode(SVGCoder(), bytes, options: DecodeOptions(limits: limits))
                #expect(result.error?.code == .limitExceeded && result.format == nil)
            }
            let exact = DecodeLimits(pixels: 1200, bytes: ByteCount(bytes.count))
            #expect(CoderDecode(SVGCoder(), bytes, options: DecodeOptions(limits: exact)).error == nil)
            for size in ["width='40000' height='1'", "width='1e30' height='1e30'", "width='1e6' height='1e6'"] {
                #expect(CoderDecode(SVGCoder(), Drawn.svg(size, "")).error?.code == .limitExceeded, "\(size)")
            }
            #expect(CoderDecode(SVGCoder(), Drawn.svg("width='0' height='9'", "")).error?.code == .corruptData)
        }

        @Test func everyCutIsTruncatedData() throws {
            let bytes = Drawn.svg("width='64' height='40'", Drawn.shapes)
            for length in stride(from: 0, to: bytes.count, by: 7) {
                let error = CoderDecode(SVGCoder(), Array(bytes.prefix(length))).error
                #expect(error?.code == .truncatedData, "at \(length): \(String(describing: error))")
            }
            let packed = DeflateWriter.gzip(bytes)
            for length in stride(from: 2, to: packed.count, by: 7) {
                #expect(
                    CoderDecode(SVGCoder(), Array(packed.prefix(length))).error?.code == .truncatedData, "at \(length)")
            }
        }

        @Test func flippedBitsGiveATypedAnswer() throws {
            var generator = SeededGenerator(seed: 11)
            let bytes = Drawn.svg("width='64' height='40'", Drawn.shapes)
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 18))
            var failures = 0
            for round in 0..<300 {
                let original = round % 5 == 0 ? DeflateWriter.gzip(bytes) : bytes
                guard let error = CoderDecode(SVGCoder(), original.damaged(by: &generator), options: options).error
                else { continue }
                failures += 1
                #expect(typedCodes.contains(error.code), "\(error)")
            }
            #expect(failures > 30 && failures < 300)
        }
    }

    /// A folder with files that a document must not read.
    private final class ForbiddenFiles {
        let path: String

        init() throws {
            path = try ScratchFolder.make()
        }

        deinit { ScratchFolder.remove(path) }

        func write(_ bytes: [UInt8], _ name: String) throws {
            let file = try #require(fopen("\(path)/\(name)", "wbe"))
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }
    }

    private enum Base64Text {
        static func text(_ bytes: [UInt8]) -> String {
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            var text = ""
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = bytes[start..<min(start + 3, bytes.count)]
                let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
                for index in 0..<4 { text.append(index <= group.count ? alphabet[word >> (18 - 6 * index) & 63] : "=") }
            }
            return text
        }
    }
#endif
