#if SVG
    import Testing
    import WebImageCore
    import WebImageTesting

    @testable import WebImageCodecs

    /// Estimating the cost of a document takes time in proportion to its length.
    ///
    /// Each reference was once followed to all elements with its id, so that a document of 432 KB took more than half a
    /// minute.
    @Suite struct SVGEstimateTests {
        private func namesakes(_ count: Int) -> String {
            "<defs>" + String(repeating: "<g id='a'/>", count: count) + "</defs>"
                + String(repeating: "<use href='#a'/>", count: count)
        }

        private func survey(_ content: String) throws -> SVGSurvey {
            try Drawn.svg("width='8' height='8'", content).withUnsafeBytes {
                try SVGSurvey(of: $0, bitmapPixels: 1 << 20)
            }
        }

        private func references(_ count: Int) -> String { (0..<count).map { "url(#\($0))" }.joined() }

        @Test(arguments: [100, 10_000]) func elementsWithTheSameIDAreFollowedOnce(count: Int) throws {
            let survey = try survey(namesakes(count))
            let order = try SVGDrawingOrder(survey)
            // Steps for the parts of the root, for the reference of each `use`, and for each element with the id.
            #expect(order.steps <= 3 * count + 10)
            #expect(order.elements.count == 2 * count + 2 && !order.hasCycles)
        }

        /// Each declaration was once read for each selector, which took minutes, and without a look at the time.
        @Test func aBlockOfAStyleSheetIsAddedOnce() throws {
            let selectors = String(repeating: "a b,", count: 2000) + "c d"
            let sheet = "<style>\(selectors){\(String(repeating: "fill:red;", count: 2000))}</style>"
            let survey = try survey(sheet)
            // The root, the style element, and two parts of each selector.
            #expect(survey.elements.count == 2 && survey.styleMatches == 2 * 2 * 2001)
            var count = 0
            _ = try Drawn.svg("width='8' height='8'", sheet).withUnsafeBytes {
                try SVGSurvey(of: $0, bitmapPixels: 1 << 20) { count += 1 }
            }
            #expect(50...200 ~= count)
        }

        /// The last of several transforms applies.
        @Test func aTransformThatMakesSmallerHidesNoOther() throws {
            func scale(_ style: String) throws -> Double {
                try #require(try survey("<style>rect{\(style)}</style><rect/>").traits.first { !$0.isPlain }).scale
            }
            #expect(try scale("transform:scale(0.5)") == 1, "a rule may not apply")
            #expect(try scale("transform:scale(0.001);transform:scale(900)") >= 900)
        }

        /// Each class may have a rule, and each rule many names.
        @Test func veryManyClassesOfAnElementAreRefused() throws {
            let names = (0..<300).map { "a\($0)" }
            let sheet = "<style>\(names.map { ".\($0)" }.joined(separator: ",")){fill:red}</style>"
            let element = "<rect class='\(names.joined(separator: " "))'/>"
            #expect(throws: WebImageError.self) { try survey(sheet + element) }
            #expect(
                try survey(sheet + "<rect class='\(names.prefix(200).joined(separator: " "))'/>").elements.count == 3)
        }

        @Test func longDefaultsAreRefused() throws {
            let value = String(repeating: "a:b;", count: 20_000)
            let bytes = Drawn.svg(
                "width='8' height='8'", "", before: "<!DOCTYPE svg [<!ATTLIST g style CDATA '\(value)'>]>")
            let error = CoderDecode(SVGCoder(), bytes).error
            #expect(error?.code == .limitExceeded && error?.message.contains("defaults") == true)
        }

        /// All elements with the id count, because librsvg's choice depends on how it reads attributes.
        @Test func eachElementWithAnIDCounts() throws {
            let one = "<g id='a'><rect width='4' height='4' opacity='.5'/></g>"
            func time(_ content: String) throws -> Double {
                try SVGEstimate(try survey(content), size: PixelSize(width: 8, height: 8), scale: 1).nanoseconds
            }
            let single = try time("<defs>\(one)</defs><use href='#a'/>")
            #expect(try time("<defs>\(one)\(one)</defs><use href='#a'/>") > 1.9 * single)
            #expect(try time("<defs><g foo:id='a'/>\(one)</defs><use href='#a'/>") >= single)
            let cycle = "<g id='a'/><g id='a'><use href='#a'/></g><use href='#a'/>"
            #expect(try SVGDrawingOrder(try survey(cycle)).hasCycles)
        }

        /// A pattern inherits from all patterns that it refers to, in whatever order they come.
        @Test(arguments: ["", "<g id='c'><use href='#c'/></g>"]) func aPatternHasTheSizeOfThoseItRefersTo(
            _ cycle: String
        )
            throws
        {
            func bytes(_ side: Int) throws -> Double {
                let content =
                    "<rect width='8' height='8' fill='url(#a)'/><pattern id='a' href='#b' patternUnits='userSpaceOnUse'/>"
                    + "<pattern id='b' href='#d'/><pattern id='b' width='\(side)' height='\(side)'"
                    + " patternUnits='userSpaceOnUse'/><pattern id='d' width='1' height='1'/>"
                return try SVGEstimate(try survey(content + cycle), size: PixelSize(width: 8, height: 8), scale: 1)
                    .memory
            }
            #expect(try bytes(1000) - bytes(100) >= 4 * (1000 * 1000 - 100 * 100) - 1)
        }

        /// A chain of patterns was once followed anew for each shape that it paints, which would take minutes here.
        @Test func aChainOfPatternsIsFollowedOnce() throws {
            let count = 20_000
            let patterns = (0..<count).map { "<pattern id='p\($0)' href='#p\($0 + 1)'/>" }.joined()
            let shapes = String(repeating: "<rect width='1' height='1' fill='url(#p0)'/>", count: count)
            let survey = try survey(patterns + shapes)
            #expect(try SVGDrawingOrder(survey).steps <= 5 * count)
            _ = try SVGEstimate(survey, size: PixelSize(width: 8, height: 8), scale: 1)
        }

        @Test(arguments: ["mask='N'", "style='mask:N'", "fill='N'", "style='clip-path:N;clip-path:N'", "filter='N'"])
        func anElementHasFewReferences(_ attribute: String) throws {
            func survey(_ count: Int) throws -> SVGSurvey {
                try self.survey("<g \(attribute.replacing("N", with: references(count)))/>")
            }
            #expect(try survey(256).elements.count == 2)
            for count in [257, 100_000] {
                let error = #expect(throws: WebImageError.self) { try survey(count) }
                #expect(error?.code == .limitExceeded)
            }
        }

        @Test func referencesOfAnElementCountTogether() throws {
            let error = #expect(throws: WebImageError.self) {
                try survey("<g mask='\(references(200))' filter='\(references(200))'/>")
            }
            #expect(error?.code == .limitExceeded)
            let sheet = (0..<200).map { ".k\($0){mask:url(#a\($0));filter:url(#b\($0))}" }.joined()
            let classes = (0..<200).map { "k\($0)" }.joined(separator: " ")
            #expect(throws: WebImageError.self) { try survey("<style>\(sheet)</style><g class='\(classes)'/>") }
            #expect(try survey("<style>\(sheet)</style><g class='k1 k2'/>").elements.count == 3)
        }

        @Test func theEstimateCanBeEnded() throws {
            let survey = try survey(namesakes(1000))
            var calls = 0
            #expect(throws: WebImageError.self) {
                try SVGEstimate(survey, size: PixelSize(width: 8, height: 8), scale: 1) { () throws(WebImageError) in
                    calls += 1
                    if calls == 3 { throw .cancelled }
                }
            }
            #expect(calls == 3)
        }
    }
#endif
