import WebImageCore

extension CostlyDocument {
    /// Documents of 1000 units a side, so that a canvas of 4096 pixels a side stretches them.
    package static var svg: [CostlyDocument] { filterNumbers + filterChains + nests + paints + texts + outlines }

    private static func svg(_ name: String, _ content: String) -> CostlyDocument {
        let start = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
        let text = start + "width='1000' height='1000' viewBox='0 0 1000 1000'>\(content)</svg>"
        return CostlyDocument(name: "svg \(name)", format: .svg, bytes: Array(text.utf8))
    }

    private static func filtered(_ name: String, _ primitives: String, _ attributes: String = "") -> CostlyDocument {
        let shape = "<rect width='1000' height='1000' fill='red' filter='url(#f)'/>"
        return svg(name, "<filter id='f' \(attributes)>\(primitives)</filter>\(shape)")
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    /// Extreme values for each number of each filter primitive.
    private static var filterNumbers: [CostlyDocument] {
        let numbers = ["256000000", "1e30", "-1e30", "0.5", "-3", "1e-30", "99 3", "3 -99", "nan", "0", "1000"]
        let light = "<fePointLight x='1e30' y='-1e30' z='1e-30'/>"
        let attributes: [(element: String, name: String, rest: String, inner: String)] = [
            ("feTurbulence", "numOctaves", "baseFrequency='.01'", ""),
            ("feTurbulence", "baseFrequency", "numOctaves='9'", ""),
            ("feTurbulence", "seed", "baseFrequency='.01' stitchTiles='stitch'", ""),
            ("feConvolveMatrix", "order", "kernelMatrix='1 2 3 4 5 6 7 8 9'", ""),
            ("feConvolveMatrix", "divisor", "order='3' kernelMatrix='1 2 3 4 5 6 7 8 9'", ""),
            ("feConvolveMatrix", "bias", "order='3' kernelMatrix='1 2 3 4 5 6 7 8 9'", ""),
            ("feConvolveMatrix", "targetX", "order='3' kernelMatrix='1 2 3 4 5 6 7 8 9'", ""),
            ("feConvolveMatrix", "kernelUnitLength", "order='3' kernelMatrix='1 2 3 4 5 6 7 8 9'", ""),
            ("feGaussianBlur", "stdDeviation", "", ""), ("feMorphology", "radius", "operator='dilate'", ""),
            ("feMorphology", "radius", "operator='erode'", ""), ("feOffset", "dx", "dy='1e30'", ""),
            ("feDropShadow", "stdDeviation", "dx='5'", ""), ("feDropShadow", "dx", "stdDeviation='5'", ""),
            ("feDisplacementMap", "scale", "in2='SourceGraphic'", ""),
            ("feDiffuseLighting", "surfaceScale", "", light),
            ("feDiffuseLighting", "kernelUnitLength", "", light),
            ("feSpecularLighting", "specularExponent", "surfaceScale='1e30'", light),
            ("feSpecularLighting", "kernelUnitLength", "specularConstant='1e30'", light),
            ("feSpecularLighting", "surfaceScale", "", "<feSpotLight x='1e30' limitingConeAngle='1e30'/>"),
            ("feComposite", "k1", "operator='arithmetic' k2='1e30' in2='SourceGraphic'", ""),
            ("feColorMatrix", "values", "type='matrix'", ""), ("feColorMatrix", "values", "type='hueRotate'", ""),
            ("feColorMatrix", "values", "type='saturate'", ""),
            ("feComponentTransfer", "in", "", "<feFuncR type='gamma' exponent='1e30' amplitude='1e30'/>"),
            ("feFlood", "flood-opacity", "", ""), ("feFlood", "x", "y='1e30' width='1e30'", ""),
            ("feFlood", "width", "height='1e30'", ""), ("feTile", "width", "height='1e-30'", ""),
            ("feBlend", "mode", "in2='SourceGraphic'", ""), ("feImage", "width", "xlink:href='#f'", ""),
        ]
        return attributes.flatMap { element, name, rest, inner in
            numbers.map { number in
                filtered(
                    "\(element) \(name)=\(number)", "<\(element) \(name)='\(number)' \(rest)>\(inner)</\(element)>")
            }
        }
    }

    /// Many primitives, large windows, and regions of odd sizes.
    private static var filterChains: [CostlyDocument] {
        let cells = times(9_801, "1 ")
        return [
            filtered("a kernel of 99 a side", "<feConvolveMatrix order='99' kernelMatrix='\(cells)'/>"),
            filtered("a kernel of 99 by 2", "<feConvolveMatrix order='99 2' kernelMatrix='\(cells)'/>"),
            filtered("a kernel too short", "<feConvolveMatrix order='20' kernelMatrix='1 2 3'/>"),
            filtered("60 kernels", times(60, "<feConvolveMatrix order='9' kernelMatrix='\(times(81, "1 "))'/>")),
            filtered("40 floods that are kept", (0..<40).map { "<feFlood result='r\($0)'/>" }.joined()),
            filtered("60 blurs", times(60, "<feGaussianBlur stdDeviation='300'/>")),
            filtered("2000 blurs", times(2000, "<feGaussianBlur stdDeviation='900'/>")),
            filtered("a window of 1000", "<feMorphology operator='dilate' radius='1000'/>"),
            filtered("a window of a part", "<feMorphology radius='.5'/>", "primitiveUnits='objectBoundingBox'"),
            filtered("40 noises", times(40, "<feTurbulence baseFrequency='.9' numOctaves='9'/>")),
            filtered("40 lights", times(40, "<feSpecularLighting><feDistantLight/></feSpecularLighting>")),
            filtered("5000 merged", "<feMerge>\(times(5000, "<feMergeNode in='SourceGraphic'/>"))</feMerge>"),
            filtered(
                "a table of 20 000",
                "<feComponentTransfer><feFuncR type='table' tableValues='\(times(20_000, ".5 "))'/></feComponentTransfer>"
            ),
            filtered("small tiles", "<feFlood x='0' y='0' width='.01' height='.01'/><feTile/>"),
            filtered("a region of 1e9", "<feOffset/>", "x='-1e9' y='-1e9' width='2e9' height='2e9'"),
            filtered("a region that is negative", "<feOffset/>", "x='0' y='0' width='-5' height='-5'"),
            filtered("a region of 1e-9", "<feGaussianBlur stdDeviation='5'/>", "width='1e-9' height='1e-9'"),
            filtered("a filter in its own image", "<feImage xlink:href='#f'/>"),
            svg(
                "200 filters in a row",
                {
                    let shape = "<rect width='1000' height='1000' fill='red' filter='\(times(200, "blur(90px) "))'/>"
                    return shape
                }()),
            svg(
                "1000 filtered shapes",
                {
                    let filter =
                        "<filter id='f'><feGaussianBlur stdDeviation='50'/><feTurbulence baseFrequency='.1'/></filter>"
                    return filter + times(1000, "<rect width='1000' height='1000' filter='url(#f)'/>")
                }()),
        ]
    }

    /// Nested levels, each of which draws the one below it ten times, or has a canvas.
    private static var nests: [CostlyDocument] {
        func levels(_ count: Int, _ last: String, _ level: (Int) -> String) -> String {
            "<defs>\((0..<count).map(level).joined())\(last)</defs>"
        }
        let dot = "<rect width='1000' height='1000' fill='red'/>"
        func wrapped(_ count: Int, _ attributes: (Int) -> String) -> String {
            (0..<count).map { "<g \(attributes($0))>" }.joined() + dot + times(count, "</g>")
        }
        let masks = (0..<60).map {
            "<mask id='m\($0)' maskUnits='userSpaceOnUse' width='1000' height='1000'><g mask='url(#m\($0 + 1))'>\(dot)</g></mask>"
        }.joined()
        let clips = (0..<60).map {
            "<clipPath id='c\($0)' clip-path='url(#c\($0 + 1))'><circle cx='500' cy='500' r='400'/></clipPath>"
        }.joined()
        let patterns = (0..<12).map { level in
            "<pattern id='p\(level)' width='.1' height='.1'><rect width='100' height='100' fill='url(#p\(level + 1))'/></pattern>"
        }.joined()
        return [
            svg(
                "uses of ten uses",
                levels(9, "<g id='u9'>\(dot)</g>") { level in
                    "<g id='u\(level)'>\(times(10, "<use xlink:href='#u\(level + 1)'/>"))</g>"
                } + "<use xlink:href='#u0'/>"),
            svg(
                "symbols of ten symbols",
                levels(9, "<symbol id='u9'>\(dot)</symbol>") { level in
                    "<symbol id='u\(level)' viewBox='0 0 9 9'>\(times(10, "<use xlink:href='#u\(level + 1)'/>"))</symbol>"
                } + "<use xlink:href='#u0'/>"),
            svg("a use of itself", "<g id='a'><use xlink:href='#a'/>\(dot)</g>"),
            svg("two that use each other", "<g id='a'><use xlink:href='#b'/></g><g id='b'><use xlink:href='#a'/></g>"),
            svg("60 masks within each other", masks + "<g mask='url(#m0)'>\(dot)</g>"),
            svg("60 groups with masks", masks + wrapped(60) { "mask='url(#m\($0))'" }),
            svg("60 clips within each other", clips + "<g clip-path='url(#c0)'>\(dot)</g>"),
            svg("200 groups with opacity", wrapped(200) { _ in "opacity='.9'" }),
            svg("200 groups that blend", wrapped(200) { _ in "style='mix-blend-mode:multiply'" }),
            svg("patterns in patterns", patterns + "<rect width='1000' height='1000' fill='url(#p0)'/>"),
            svg(
                "a filter of a filter's image",
                (0..<20).map {
                    "<filter id='f\($0)'><feImage xlink:href='#r\($0 + 1)'/></filter><rect id='r\($0)' width='1000' height='1000' filter='url(#f\($0))'/>"
                }.joined()),
            svg("pictures in it of itself", times(500, "<image width='1000' height='1000' xlink:href='#a'/>")),
            svg(
                "a style for all of 5000",
                "<style>" + (0..<1000).map { "g g g g g.a\($0) rect{opacity:.5}" }.joined()
                    + "</style>" + times(5000, "<g class='a1'><rect width='9' height='9'/></g>")),
        ]
    }

    /// Gradients and patterns that fill shapes.
    private static var paints: [CostlyDocument] {
        let shape = "<rect width='1000' height='1000' fill='url(#p)'/>"
        func pattern(_ attributes: String, _ inner: String = "<rect width='1' height='1'/>") -> String {
            "<pattern id='p' \(attributes)>\(inner)</pattern>" + shape
        }
        return [
            svg("a tile of 1e-9", pattern("width='1e-9' height='1e-9' patternUnits='userSpaceOnUse'")),
            svg("a tile of 1e9", pattern("width='1e9' height='1e9' patternUnits='userSpaceOnUse'")),
            svg(
                "a tile that is stretched",
                pattern(
                    "width='1' height='1' patternUnits='userSpaceOnUse' patternTransform='scale(1e6) rotate(7)'")),
            svg("a tile that is negative", pattern("width='-1' height='-1'")),
            svg(
                "a tile seen through a pinhole",
                pattern(
                    "width='9' height='9' patternUnits='userSpaceOnUse' viewBox='0 0 1e-9 1e-9'")),
            svg(
                "a tile that is blurred",
                pattern(
                    "width='1' height='1' patternContentUnits='objectBoundingBox'",
                    times(99, "<g style='filter:blur(9px)'>")
                        + "<rect width='1' height='1'/>" + times(99, "</g>"))),
            svg(
                "20 000 stops",
                "<linearGradient id='p' spreadMethod='reflect' x2='1e-9'>"
                    + times(20_000, "<stop offset='.5' stop-color='red'/>") + "</linearGradient>" + shape),
            svg("a gradient of 1e-9", "<radialGradient id='p' spreadMethod='repeat' r='1e-9' fx='9'/>" + shape),
            svg(
                "1000 gradients",
                (0..<1000).map {
                    "<linearGradient id='g\($0)' xlink:href='#g\($0 + 1)'/>"
                }.joined() + times(1000, "<rect width='1000' height='1000' fill='url(#g0)'/>")),
        ]
    }

    private static var texts: [CostlyDocument] {
        [
            svg("a font of 1e9", "<text y='500' font-size='1e9'>A</text>"),
            svg("a font of 30 000", "<text y='500' font-size='30000'>\(times(200, "Wg"))</text>"),
            svg("fonts that grow", times(60, "<text><tspan font-size='200%'>") + "A" + times(60, "</tspan></text>")),
            svg("100 000 characters", "<text y='9' font-size='9'>\(times(20_000, "abcde"))</text>"),
            svg("10 000 spans", "<text y='500'>\(times(10_000, "<tspan dx='1' dy='.1'>A</tspan>"))</text>"),
            svg(
                "text with dashes", "<text y='500' font-size='900' stroke='red' stroke-dasharray='.01'>Wg8&amp;</text>"),
            svg("spacing of 1e30", "<text y='500' letter-spacing='1e30' rotate='1e30'>AAAA</text>"),
            svg("signs that stack", "<text y='500' font-size='99'>a\(times(5000, "\u{301}"))</text>"),
            svg("text filtered", "<text y='500' style='\(times(50, "filter:blur(9px);"))'>A</text>"),
        ]
    }

    /// Paths, strokes, dashes and markers.
    private static var outlines: [CostlyDocument] {
        let zigzag = "M0 0" + times(20_000, "l9 1000 9 -1000")
        func path(_ data: String, _ attributes: String) -> String { "<path d='\(data)' \(attributes)/>" }
        let marker = "<marker id='m'><rect width='1000' height='1000' fill='url(#m)' opacity='.5'/></marker>"
        return [
            svg("a path of 40 000 points", path(zigzag, "fill='red'")),
            svg("the same in strokes", path(zigzag, "stroke='red' fill='none' stroke-width='90'")),
            svg(
                "the same in round strokes",
                path(
                    zigzag, "stroke='red' fill='none' stroke-width='900' stroke-linejoin='round' stroke-linecap='round'"
                )),
            svg("a curve of 1e30", path("M0 0C1e30 1e30 -1e30 1e30 1 1", "stroke='red' stroke-width='1e30'")),
            svg("20 000 arcs", path("M0 0" + times(20_000, "a500 400 33 1 1 9 9"), "stroke='red' fill='none'")),
            svg("dashes of 1e-9", path("M0 0H1000", "stroke='red' stroke-dasharray='1e-9'")),
            svg(
                "dashes of a curve",
                path(
                    "M0 0" + times(500, "c900 900 -900 900 9 9"), "stroke='red' fill='none' stroke-dasharray='.05 .01'")
            ),
            svg("dashes of 1e30", path("M0 0H1e30", "stroke='red' stroke-dasharray='1' stroke-dashoffset='1e30'")),
            svg("a circle of 1e9", "<circle r='1e9' stroke='red' stroke-dasharray='1'/>"),
            svg("markers at 40 000 points", marker + path(zigzag, "marker-mid='url(#m)'")),
            svg(
                "markers of markers",
                (0..<8).map {
                    "<marker id='m\($0)'><path d='M0 0\(times(10, "l9 9"))' marker-mid='url(#m\($0 + 1))'/></marker>"
                }.joined() + path(times(10, "M0 0l9 9"), "marker-mid='url(#m0)'")),
            svg("100 000 shapes", times(100_000, "<rect width='1000' height='1000'/>")),
            svg("a stretch of 1e30", "<g transform='scale(1e30) skewX(89.9)'><circle r='1' stroke='red'/></g>"),
        ]
    }
}
