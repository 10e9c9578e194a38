import WebImageCore

extension CostlyDocument {
    /// Documents with a page of 1000 points a side.
    package static var pdf: [CostlyDocument] {
        let tile = "/PatternType 1 /PaintType 1 /TilingType 1 /Resources << >>"
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 1000 1000]"
        let group = "/Group << /S /Transparency /I true >>"
        let usesPattern = "/Pattern << /P 5 0 R >>"
        let fill = "/Pattern cs /P scn 0 0 1000 1000 re f"
        /// Each form draws the next one several times.
        func forms(_ depth: Int, _ times: Int, _ attributes: String) -> [Object] {
            (0..<depth).map { level in
                let inner = level == depth - 1 ? "0 0 1000 1000 re f" : repeated(times, "/F Do ")
                let next = "/Resources << /XObject << /F \(level + 6) 0 R >> >>"
                return Object("\(form) \(attributes) \(next)", inner)
            }
        }
        let bitmap = "/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 1"
        let shading = "/ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] /Matrix [1000 0 0 1000 0 0]"
        let function = "/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]"
        return [
            pdf(
                "tiles of a thousandth", usesPattern, fill,
                [
                    Object("\(tile) /BBox [0 0 1 1] /XStep .001 /YStep .001", "0 0 1 1 re f")
                ]),
            pdf(
                "tiles of 1e-9", usesPattern, fill,
                [
                    Object("\(tile) /BBox [0 0 1e-9 1e-9] /XStep 1e-9 /YStep 1e-9", "0 0 1 1 re f")
                ]),
            pdf(
                "tiles of 1e9", usesPattern, fill,
                [
                    Object("\(tile) /BBox [0 0 1e9 1e9] /XStep 1e9 /YStep 1e9", "0 0 1e9 1e9 re f")
                ]),
            pdf("steps of 0", usesPattern, fill, [Object("\(tile) /BBox [0 0 9 9] /XStep 0 /YStep 0", "0 0 9 9 re f")]),
            pdf(
                "overlapping tiles", usesPattern, fill,
                [
                    Object("\(tile) /BBox [0 0 1000 1000] /XStep .5 /YStep .5", repeated(50, "0 0 1000 1000 re f "))
                ]),
            pdf(
                "a pattern in itself", usesPattern, fill,
                [
                    Object(
                        "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 "
                            + "/Resources << /Pattern << /P 5 0 R >> >>", fill)
                ]),
            pdf("forms of ten forms", "/XObject << /F 5 0 R >>", "/F Do", forms(9, 10, "")),
            pdf("60 groups within each other", "/XObject << /F 5 0 R >>", "/F Do", forms(60, 1, group)),
            pdf("groups of four groups", "/XObject << /F 5 0 R >>", "/F Do", forms(9, 4, group)),
            pdf(
                "a form in itself", "/XObject << /F 5 0 R >>", "/F Do",
                [
                    Object("\(form) /Resources << /XObject << /F 5 0 R >> >>", "/F Do /F Do")
                ]),
            pdf("1.5 million lines in strokes", "", "0 0 m " + repeated(1_500_000, "9 9 l S ")),
            pdf("1.5 million lines", "", "0 0 m " + repeated(1_500_000, "9 9 l ") + "S"),
            pdf("a million saved states", "", repeated(1_000_000, "q ")),
            pdf("a million fills", "", repeated(1_000_000, "0 0 1000 1000 re f ")),
            pdf("100 000 clips", "", repeated(100_000, "0 0 900 900 re W n ")),
            pdf("dashes of 1e-9", "", "[1e-9] 0 d 0 0 m 1000 1000 l S"),
            pdf("dashes of 5000 curves", "", "[.01] 0 d 0 0 m " + repeated(5_000, "0 900 900 0 9 9 c ") + "S"),
            pdf("a line of 1e30", "", "1e30 w [1] 0 d 0 0 m 1e30 1e30 l S"),
            pdf(
                "a shading that calculates", "/Shading << /S 6 0 R >>", "/S sh",
                [
                    Object(function, "{ \(repeated(5_000, "sin cos ")) pop dup dup }"),
                    Object("\(shading) /Function 5 0 R", nil),
                ]),
            pdf(
                "5000 shadings", "/Shading << /S 6 0 R >>", repeated(5_000, "/S sh "),
                [
                    Object(function, "{ pop dup dup }"), Object("\(shading) /Function 5 0 R", nil),
                ]),
            pdf(
                "a mesh that lies", "/Shading << /S 5 0 R >>", "/S sh",
                [
                    Object(
                        "/ShadingType 7 /ColorSpace /DeviceRGB /BitsPerCoordinate 32 /BitsPerComponent 16 /BitsPerFlag 8 "
                            + "/Decode [-1e9 1e9 -1e9 1e9 0 1 0 1 0 1]", repeated(20_000, "0123456789abcdef"))
                ]),
            pdf(
                "a bitmap of 60 000 a side", "/XObject << /I 5 0 R >>", "1000 0 0 1000 0 0 cm /I Do",
                [
                    Object("\(bitmap) /Width 60000 /Height 60000", "x")
                ]),
            pdf(
                "a bitmap of 2 billion a side", "/XObject << /I 5 0 R >>", "1000 0 0 1000 0 0 cm /I Do",
                [
                    Object("\(bitmap) /Width 2000000000 /Height 2000000000", "x")
                ]),
            pdf(
                "2000 times a bitmap", "/XObject << /I 5 0 R >>", "1000 0 0 1000 0 0 cm " + repeated(2_000, "/I Do "),
                [
                    Object("\(bitmap) /Width 2000 /Height 2000", repeated(500_000, "x"))
                ]),
            pdf(
                "a mask of a mask", "/XObject << /I 5 0 R >>", "1000 0 0 1000 0 0 cm /I Do",
                [
                    Object("\(bitmap) /Width 9000 /Height 9000 /SMask 6 0 R", "x"),
                    Object("\(bitmap) /Width 9000 /Height 9000 /SMask 5 0 R", "x"),
                ]),
            pdf(
                "a font of 1e9", "/Font << /F 5 0 R >>", "BT /F 1e9 Tf (A) Tj ET",
                [
                    Object("/Type /Font /Subtype /Type1 /BaseFont /Helvetica", nil)
                ]),
            pdf(
                "100 000 characters", "/Font << /F 5 0 R >>", "BT /F 900 Tf " + repeated(20_000, "(abcde) Tj ") + "ET",
                [
                    Object("/Type /Font /Subtype /Type1 /BaseFont /Helvetica", nil)
                ]),
            pdf("a page of 1e9", "", "0 0 1 1 re f", media: "0 0 1000000000 1000000000"),
            pdf("a page of 1e-9", "", "0 0 1 1 re f", media: "0 0 .000000001 .000000001"),
        ]
    }

    /// The entries of an object's dictionary, and its stream if it has one.
    private struct Object {
        let entries: String
        let stream: String?

        init(_ entries: String, _ stream: String?) {
            self.entries = entries
            self.stream = stream
        }

        var text: String {
            guard let stream else { return "<< \(entries) >>" }
            return "<< \(entries) /Length \(stream.utf8.count) >>\nstream\n\(stream)\nendstream"
        }
    }

    private static func repeated(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    /// - Parameter objects: the further objects, numbered from 5.
    private static func pdf(
        _ name: String, _ resources: String, _ content: String, _ objects: [Object] = [],
        media: String = "0 0 1000 1000"
    ) -> CostlyDocument {
        let page = "/Type /Page /Parent 2 0 R /MediaBox [\(media)] /Contents 4 0 R /Resources << \(resources) >>"
        let all =
            [
                Object("/Type /Catalog /Pages 2 0 R", nil), Object("/Type /Pages /Kids [3 0 R] /Count 1", nil),
                Object(page, nil), Object("", content),
            ] + objects
        var text = "%PDF-1.4\n"
        var places: [Int] = []
        for (index, object) in all.enumerated() {
            places.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object.text)\nendobj\n"
        }
        let table = text.utf8.count
        text += "xref\n0 \(all.count + 1)\n0000000000 65535 f \n"
        for place in places { text += "\(String("0000000000\(place)".suffix(10))) 00000 n \n" }
        text += "trailer << /Size \(all.count + 1) /Root 1 0 R >>\nstartxref\n\(table)\n%%EOF\n"
        return CostlyDocument(name: "pdf \(name)", format: .pdf, bytes: Array(text.utf8))
    }
}
