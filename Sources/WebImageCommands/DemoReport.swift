import WebImage
import WebImageTesting

/// The demo's table: where each picture came from, and how long each stage took.
enum DemoTable {
    static func text(_ pictures: [SamplePicture], cold: DemoRound, disk: DemoRound, memory: DemoRound) -> String {
        var rows = [
            [
                "picture", "format", "kind", "bytes", "source", "queue", "first byte", "transfer", "decode", "total",
                "| source",
                "decode", "total", "| source", "total",
            ]
        ]
        for (index, picture) in pictures.enumerated() {
            let header = cold.response(index)?.header
            var row = [picture.fileName, header?.format.rawValue ?? "", kind(header)]
            row.append(cold.response(index)?.byteCount?.description ?? "")
            row += cells(cold, index, [\.queue, \.firstByte, \.transfer, \.decode, \.total])
            row += divided(cells(disk, index, [\.decode, \.total]))
            row += divided(cells(memory, index, [\.total]))
            rows.append(row)
        }
        return "\n" + aligned(rows) + "\n(milliseconds; decoding overlaps the transfer)"
    }

    private static func kind(_ header: ImageHeader?) -> String {
        guard let header else { return "" }
        var text = "\(header.size)"
        let isLaced = [.png, .apng, .gif].contains(header.format)
        if header.isProgressive { text += isLaced ? " interlaced" : " progressive" }
        if header.orientation != .up { text += " turned \(header.orientation.rawValue)" }
        if header.hasAlpha { text += " alpha" }
        if header.bitDepth > 8 { text += " \(header.bitDepth) bit" }
        return text
    }

    private static func cells(
        _ round: DemoRound, _ index: Int, _ stages: [KeyPath<LoadTimings, Duration?>]
    ) -> [String] {
        switch round.answers[index] {
        case .success(let response):
            [response.source.rawValue]
                + stages.map { stage in response.timings[keyPath: stage].map(milliseconds) ?? "" }
        case .failure(let error): [error.code.name] + stages.map { _ in "" }
        case nil: stages.map { _ in "" } + [""]
        }
    }

    private static func divided(_ cells: [String]) -> [String] {
        cells.enumerated().map { $0.offset == 0 ? "| \($0.element)" : $0.element }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let micros = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
        let digits = micros < 10 ? 10_000.0 : micros < 100_000 ? 10 : 1
        let scaled = (micros / 1000 * digits).rounded() / digits
        return scaled == scaled.rounded() && digits == 1 ? "\(Int(scaled))" : "\(scaled)"
    }

    /// Aligns the first three columns to the left, and figures to the right.
    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        var lines = rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < 3 || cell.hasPrefix("|") ? cell + space : space + cell
            }.joined(separator: "  ")
        }
        lines.insert(String(repeating: "-", count: lines[0].count), at: 1)
        return lines.joined(separator: "\n")
    }
}

/// The demo's contact sheet.
enum DemoSheet {
    static func draw(
        _ pictures: [SamplePicture], cold: DemoRound, disk: DemoRound
    ) throws(WebImageError) -> Image {
        var items: [ContactSheet.Item] = []
        for (index, picture) in pictures.enumerated() {
            let response = cold.response(index)
            let kind = response?.header.map { "\($0.format.rawValue) \($0.size)" } ?? "failed"
            let times = [("net", response), ("disk", disk.response(index))].compactMap { name, response in
                response?.timings.total.map { "\(name) \(PictureReport.wholeTime($0))" }
            }
            items.append(
                ContactSheet.Item(
                    image: response?.image,
                    caption: [
                        picture.name, kind, response?.byteCount?.description ?? "", times.joined(separator: " "),
                    ]))
        }
        let subtitle = "\(pictures.count) pictures, drawn, served, loaded, scaled and laid out by this program"
        return try ContactSheet(title: "WebImage", subtitle: subtitle).draw(items)
    }
}
