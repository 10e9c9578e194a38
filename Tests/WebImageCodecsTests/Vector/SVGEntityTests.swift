#if SVG
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite struct SVGEntityTests {
        private static let red = "<rect width='8' height='8' fill='red'/>"

        private func decode(_ declarations: String, _ content: String, xml: String = "") -> CoderDecode {
            let type = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'svg11.dtd' [\(declarations)]>"
            return CoderDecode(SVGCoder(), Drawn.svg("width='8' height='8'", content, before: xml + type))
        }

        @Test(arguments: [
            ("<!ENTITY c 'red'>", "<rect width='8' height='8' fill='&c;'/>"),
            // Styles as Adobe Illustrator writes them.
            (
                "\n\t<!ENTITY st0 \"fill:red;stroke:none;\">\n\t<!ENTITY ns_x \"http://a.b/1.0/\">\n",
                "<g xmlns:x='&ns_x;'><rect style='&st0;' width='8' height='8'/></g>"
            ),
            ("<!ENTITY a '<rect width=\"8\" height=\"8\" fill=\"red\"/>'>", "<g>&a;</g>"),
            ("<!ENTITY a '&#60;rect width=\"8\" height=\"8\" fill=\"r&#x65;d\"/>'>", "&a;"),
            ("<!ENTITY a 're'><!ENTITY b '&a;d'>", "<rect width='8' height='8' fill='&b;'/>"),
            // The first declaration counts, and declarations in comments do not.
            (
                "<!--<!ENTITY c 'lime'>--><!ENTITY c 'red'><!ENTITY c 'blue'>",
                "<rect width='8' height='8' fill='&c;'/>"
            ),
            ("<!ENTITY q '\"&#39;>'>", "<rect id='&q;' width='8' height='8' fill='red'/>"),
            ("<!ENTITY amp '&#38;#38;'>", "<rect id='&amp;&#65;&lt;' width='8' height='8' fill='red'/>"),
            (
                "<!ENTITY a ''>",
                "<!-- &b; --><rect width='8' height='8' fill='red'/><?p &b;?><desc><![CDATA[&b;]]></desc>"
            ),
            ("<!ELEMENT rect EMPTY><!NOTATION n SYSTEM 'n'><?p ]>?><!-- ]> -->", red),
            ("<!ENTITY a SYSTEM 'a.svg'><!ENTITY b PUBLIC 'b' 'b.svg' NDATA n>", red),
            ("<!ENTITY c 'red'><!ATTLIST rect id ID #IMPLIED fill CDATA '&c;'>", "<rect width='8' height='8'/>"),
            ("<!ATTLIST rect width (8|9) '8' height NOTATION (a) '8' fill CDATA #FIXED \"red\">", "<rect/>"),
        ])
        func declarationsInTheDocumentAreRead(_ declarations: String, _ content: String) throws {
            let result = decode(declarations, content)
            #expect(
                result.error == nil && result.pixel(4, 4) == [255, 0, 0, 255], "\(String(describing: result.error))")
        }

        @Test(arguments: ["ISO-8859-1", "UTF-8", "windows-1252"])
        func entitiesAreReadInAnyEncodingThatIs(_ encoding: String) throws {
            let xml = "<?xml version='1.0' encoding='\(encoding)' standalone='no'?>"
            let result = decode("<!ENTITY c 'red'>", "<rect width='8' height='8' fill='&c;'/>", xml: xml)
            #expect(result.error == nil && result.pixel(4, 4) == [255, 0, 0, 255])
        }

        @Test(arguments: [true, false])
        func aDocumentInUTF16IsRead(isLittle: Bool) throws {
            let xml = "<?xml version='1.0' encoding='UTF-16'?>"
            for type in ["", "<!DOCTYPE svg [<!ENTITY c 'red'>]>"] {
                let fill = type.isEmpty ? "red" : "&c;"
                let content = "<text>\u{1F600}\u{E9}</text><rect width='8' height='8' fill='\(fill)'/>"
                let text = Drawn.svg("width='8' height='8'", content, before: xml + type)
                let bytes = ("\u{FEFF}" + String(decoding: text, as: UTF8.self)).utf16.flatMap { unit in
                    let (low, high) = (UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8))
                    return isLittle ? [low, high] : [high, low]
                }
                let result = CoderDecode(SVGCoder(), bytes)
                #expect(result.error == nil && result.pixel(7, 1) == [255, 0, 0, 255], "\(type)")
            }
        }

        @Test(arguments: [
            ("<!ENTITY a>", ""), ("<!ENTITY 'red'>", ""), ("<!ENTITY a 'red' x>", ""), ("<!ENTITY a 'r&ed'>", ""),
            ("<!ENTITY a '50%'>", ""), ("<!ENTITY a '&#0;'>", ""), ("<!ENTITY a '&#xD800;'>", ""),
            ("<!ENTITY a '&#65'>", ""), ("<!ENTITY a '&#x;'>", ""), ("<!ENTITY a '&#xFFFFFFFFF;'>", ""),
            ("<!ENTITY a 'red'> zz", ""), ("<!ENTITY a 'red'>", "&b;"), ("<!ENTITY a 'red'>", "<rect fill='&a'/>"),
            ("<!ENTITY a '<'>", "<rect fill='&a;'/>"), ("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;"),
            ("<!ENTITY a SYSTEM 'a.svg'>", "&a;"), ("<!ENTITY a '</g>'>", "&a;"),
            ("<!ATTLIST rect fill CDATA>", ""), ("<!ATTLIST rect fill CDATA '<'>", ""), ("<!ATTLIST 'a'>", ""),
        ])
        func damagedDeclarationsAndReferencesAreAnError(_ declarations: String, _ content: String) throws {
            let error = decode(declarations, content).error
            #expect(error?.code == .corruptData, "\(String(describing: error))")
        }

        /// librsvg 2.54 crashed on the first of these.
        @Test(arguments: [
            "<!ATTLIST rect x (a|a) 'a'>", "<!ATTLIST rect x NOTATION (a|a) 'a'>",
            "<!ATTLIST rect x NOTATION (a|b) 'a' x NOTATION (a|a) #IMPLIED>", "<!ELEMENT a (b|b)*><!ELEMENT a (b)>",
        ])
        func repeatedNamesInADeclarationDoNotCrash(_ declaration: String) throws {
            #expect(decode(declaration, Self.red).pixel(4, 4) == [255, 0, 0, 255])
        }

        @Test(arguments: [
            "<? <!DOCTYPE svg [<!ATTLIST a b (c|c) 'c'>]> ?>", "<?xml version='1.0'><!DOCTYPE svg [<!ENTITY a 'b'>]>",
            "x<!DOCTYPE svg [<!ENTITY a 'b'>]>",
        ])
        func aHiddenDocumentTypeIsCorrupt(_ before: String) throws {
            let bytes = Drawn.svg("width='8' height='8'", "", before: before)
            #expect(CoderDecode(SVGCoder(), bytes).error?.code == .corruptData)
        }

        @Test func entitiesThatGrowAreRefused() throws {
            for first in ["", "lol"] {
                var declarations = "<!ENTITY a0 '\(first)'>"
                for level in 1...9 {
                    let references = String(repeating: "&a\(level - 1);", count: 10)
                    declarations += "<!ENTITY a\(level) '\(references)'>"
                }
                #expect(decode(declarations, "<text>&a9;</text>").error?.code == .limitExceeded)
                let defaults = declarations + "<!ATTLIST rect x CDATA '&a9;'>"
                #expect(decode(defaults, "").error?.code == .limitExceeded)
            }
        }

        @Test func elementsInEntitiesCountAsElements() throws {
            let nested = String(repeating: "<g opacity='.99'>", count: 200) + String(repeating: "</g>", count: 200)
            let type = "<!DOCTYPE svg [<!ENTITY a \"\(nested)\">]>"
            let large = Drawn.svg("width='8000' height='8000'", "&a;", before: type)
            #expect(CoderDecode(SVGCoder(), large).error?.code == .limitExceeded)
        }

        @Test func everyCutOfADocumentTypeIsTruncatedData() throws {
            let type = """
                <!DOCTYPE svg [<!-- c --><?p q?><!ENTITY a "red"><!ENTITY b SYSTEM 'b'><!ELEMENT g ANY>
                <!ATTLIST rect fill CDATA '&a;' id ID #IMPLIED x (a|b) "a">]>
                """
            let bytes = Drawn.svg("width='8' height='8'", Self.red, before: type)
            for length in 0..<bytes.count {
                let error = CoderDecode(SVGCoder(), Array(bytes.prefix(length))).error
                #expect(error?.code == .truncatedData, "at \(length): \(String(describing: error))")
            }
        }
    }
#endif
