#if SVG
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite struct SVGSanitizerTests {
        private static let start =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">"

        private func cleaned(_ text: String) throws -> String {
            String(decoding: try SVGSanitizer.withoutScripts(in: Array(text.utf8)), as: UTF8.self)
        }

        @Test(arguments: [
            "<rect width='3' height=\"4\"/>", "<text>a &amp; b</text>", "<text>&lt;&gt;&quot;&apos;&#38;&#x26;</text>",
            "<style>.a { fill: url(#b) }</style>", "<style> a &gt; b {} </style>",
            "<a href=\"https://example.com/\"><g/></a>", "<use xlink:href='#a'/>",
            "<image href=\"data:image/png;base64,AAAA\"/>", "<image href=\"data:image/svg+xml;base64,AAAA\"/>",
            "<a href='pictures/a:b'/>", "<a href='//example.com/a'/>", "<a href='?a:b'/>", "<image href='a.png'/>",
            "<foreignObject><div xmlns='http://www.w3.org/1999/xhtml'>x</div></foreignObject>",
            "<g first='1'\n\ttwo = '2' />",
            "<text>javascript: is a language</text>",
        ]) func contentWithoutScriptsIsUnchanged(_ inner: String) throws {
            let text = "<?xml version='1.0' encoding='utf-8'?>\n" + Self.start + inner + "</svg>\n"
            // Attributes are unchanged; only the space before the end of an element is removed.
            #expect(try cleaned(text) == text.replacing("'2' />", with: "'2'/>"))
        }

        @Test(arguments: [
            ("<script>alert(1)</script>", ""), ("<script href='x.js'/>", ""), ("<SCRIPT>x</SCRIPT>", ""),
            ("<svg:script><![CDATA[ </svg:script> ]]></svg:script><g/>", "<g/>"),
            ("<script><script></script>x</script><g/>", "<g/>"), ("<iframe srcdoc='x'><g/></iframe>", ""),
            ("<g onload='alert(1)'/>", "<g/>"), ("<g ONLOAD='alert(1)' id='a'/>", "<g id='a'/>"),
            ("<g onload = \"a>b\" id='a'>t</g>", "<g id='a'>t</g>"),
            ("<a href='javascript:alert(1)'>x</a>", "<a>x</a>"), ("<a xlink:href=' java\tscript:x'/>", "<a/>"),
            ("<a href='&#106;avascript&#x3a;x'/>", "<a/>"), ("<a href='JaVaScRiPt:x'/>", "<a/>"),
            ("<a href='&#x1;javascript:x'/>", "<a/>"), ("<a href='vbscript:x'/>", "<a/>"),
            ("<animate attributeName='href' values='#a;javascript:x'/>", "<animate attributeName='href'/>"),
            ("<set attributeName='href' to='data:image/svg+xml;base64,AAAA#x'/>", "<set attributeName='href'/>"),
            ("<set attributeName='onclick' to='x'/>", "<set to='x'/>"),
            ("<use href='data:image/svg+xml;base64,AAAA#x'/>", "<use/>"), ("<a href='data:text/html,x'/>", "<a/>"),
            ("<use href='https://example.com/a.svg#b'/>", "<use/>"), ("<use xlink:href='a.svg#b'/>", "<use/>"),
            ("<svg:use href='//example.com/a.svg#b'/>", "<svg:use/>"), ("<use href='data:image/png,x'/>", "<use/>"),
            ("<a href='mailto:a@example.com'/>", "<a/>"), ("<image xlink:href='FTP://example.com/a.png'/>", "<image/>"),
            ("<a href='x+y.z-1:a'/>", "<a/>"),
            ("<?xml-stylesheet href='x.xsl'?><g/>", "<g/>"), ("<meta http-equiv='refresh' content='0'/>", ""),
        ]) func scriptsAndHandlersAreRemoved(_ inner: String, _ rest: String) throws {
            #expect(try cleaned(Self.start + inner + "</svg>") == Self.start + rest + "</svg>")
        }

        /// The result may be embedded in HTML, in which these constructs end earlier or mean something else.
        @Test(arguments: [
            ("<!-- a <script> in a comment --><g/>", "<g/>"), ("<!--><script>x</script>-->", ""),
            ("<g><!-- --!><script>x</script> --></g>", "<g></g>"),
            ("<style><![CDATA[ a > b {} ]]></style>", "<style> a &gt; b {} </style>"),
            (
                "<text><![CDATA[<script>x</script>&amp;]]]]><![CDATA[>]]></text>",
                "<text>&lt;script&gt;x&lt;/script&gt;&amp;amp;]]&gt;</text>"
            ),
            ("<script><![CDATA[x]]></script><!-- -->", ""),
            ("<?xml version='1.0' a='><script>x</script>'?>", ""), ("<g/><?xml version='1.0'?>", "<g/>"),
        ]) func constructsThatHTMLReadsOtherwiseAreNotCopied(_ inner: String, _ rest: String) throws {
            #expect(try cleaned(Self.start + inner + "</svg>") == Self.start + rest + "</svg>")
        }

        @Test func anXMLDeclarationThatHidesMarkupIsRemoved() throws {
            #expect(
                try cleaned("<?xml version='1.0' a='><script>x</script>'?>" + Self.start + "</svg>") == Self.start
                    + "</svg>")
            let plain = "\u{FEFF}<?xml version='1.0'?>" + Self.start + "</svg>"
            #expect(try cleaned(plain) == plain)
        }

        @Test(arguments: [
            "javascript&colon;x", "java&Tab;script:x", "&NewLine;", "&nbsp;", "&amp", "&", "a & b", "&#106", "&#X6a;",
            "&#xD800;",
            "&#1114112;", "&#;", "&#x;", "&#+106;", "&lt ;", "&#00000000000000000000000000106;",
        ]) func anEntityThatIsNotDeclaredIsRefused(_ text: String) {
            for document in ["<a href='\(text)'/>", "<text>\(text)</text>"] {
                let error = #expect(throws: WebImageError.self) { try cleaned(Self.start + document + "</svg>") }
                #expect(error?.code == .corruptData, "\(document)")
            }
        }

        @Test func entitiesAreExpandedBeforeScriptsAreRemoved() throws {
            let text =
                "<!DOCTYPE svg [<!ENTITY s '<script>x</script>'><!ENTITY j 'javascript:x'><!ENTITY n 'name'>"
                + "<!ATTLIST svg onload CDATA 'x'>]>" + Self.start + "&s;<a href='&j;' id='&n;'/></svg>"
            #expect(try cleaned(text) == Self.start + "<a id='name'/></svg>")
        }

        @Test func aDocumentTypeIsRemoved() throws {
            let type =
                "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">"
            #expect(try cleaned(type + Self.start + "</svg>") == Self.start + "</svg>")
        }

        @Test(arguments: [
            "", "text", "<svg", "<svg>", "<svg></g>", "<svg><g></svg></g>", "<svg><g a></g></svg>",
            "<svg><g a=b/></svg>",
            "<svg><g a='<'/></svg>", "<svg/><svg/>", "<svg/>text", "<svg><!-- </svg>", "<svg><![CDATA[ </svg>",
            "<svg>< g/></svg>",
            "<svg><g a='x'b='y'/></svg>", "<svg><g / a='x'></svg>", "<!DOCTYPE svg [ <svg/>", "<svg/><!DOCTYPE svg>",
            "<svg><?x </svg>",
        ]) func documentsThatAreNotWellFormedAreRefused(_ text: String) {
            #expect(throws: WebImageError.self) { try cleaned(text) }
        }

        @Test func anEncodingThatHidesMarksIsRefused() {
            #expect(throws: WebImageError.self) { try cleaned("<?xml version='1.0' encoding='utf-7'?><svg/>") }
        }

        @Test func utf16IsReadToo() throws {
            let text = "<?xml version='1.0' encoding='utf-16'?><svg onload='x'><text>é</text></svg>"
            let bytes = [UInt8](arrayLiteral: 0xFF, 0xFE) + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
            let made = try SVGSanitizer.withoutScripts(in: bytes)
            #expect(String(decoding: made, as: UTF8.self) == "<svg><text>é</text></svg>")
        }

        @Test func entitiesDoNotGrowWithoutEnd() {
            var text = "<!DOCTYPE svg [<!ENTITY a0 'xxxxxxxxxx'>"
            for level in 1...9 { text += "<!ENTITY a\(level) '\(String(repeating: "&a\(level - 1);", count: 10))'>" }
            #expect(throws: WebImageError.self) { try cleaned(text + "]><svg><text>&a9;</text></svg>") }
        }

        /// However the text is cut or changed, no script passes, and nothing traps.
        @Test func damageLetsNothingThrough() throws {
            let text = Self.start + "<g onload='a'><script>b</script><a xlink:href='javascript:c' d='e'/></g></svg>"
            var random = SeededGenerator(seed: 7)
            for _ in 0..<5000 {
                var bytes = Array(text.utf8)
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    default: bytes.insert("<>'\"/= &!?-".utf8.randomElement(using: &random) ?? 0, at: place)
                    }
                }
                guard let made = try? SVGSanitizer.withoutScripts(in: bytes) else { continue }
                let again = try SVGSanitizer.withoutScripts(in: made)
                #expect(again == made)
                #expect(!String(decoding: made, as: UTF8.self).contains("<script"))
            }
        }
    }
#endif
