import WebImage

/// Facts about a picture as text.
enum FactText {
    /// `1600 × 1067 · jpeg · 312.4 KiB`.
    ///
    /// - Parameters:
    ///   - response: the response with the shown picture.
    ///   - facts: what is known about the last load of the picture.
    static func line(_ response: ImageResponse, _ facts: PictureFacts?) -> String {
        var parts: [String] = []
        let original = response.header?.displaySize ?? facts?.originalSize ?? response.image.displaySize
        parts.append("\(original.width) × \(original.height)")
        if let format = response.header?.format ?? facts?.format { parts.append(format.rawValue) }
        if let animation = response.image.animation { parts.append("\(animation.frameCount) frames") }
        if let bytes = response.byteCount ?? facts?.byteCount { parts.append("\(bytes)") }
        return parts.joined(separator: " · ")
    }

    /// `from the network in 96 ms · decoding 12 ms`.
    static func times(_ response: ImageResponse) -> String {
        let source = sentence(response.source)
        var parts = [response.timings.total.map { "\(source) in \(milliseconds($0))" } ?? source]
        if let decode = response.timings.decode { parts.append("decoding \(milliseconds(decode))") }
        return parts.joined(separator: " · ")
    }

    static func sentence(_ source: ImageSource) -> String {
        switch source {
        case .memory: "from memory"
        case .disk: "from disk"
        case .tier: "from a further cache"
        case .network: "from the network"
        case .file: "from a file"
        case .given: "given"
        }
    }

    /// `0.4 ms`, `96 ms`, `1240 ms`.
    static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .microseconds(100)).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) ms" : "\((tenths + 5) / 10) ms"
    }

    /// `12.5 %`, `100 %`.
    static func percent(_ part: Double) -> String {
        let tenths = Int((part * 1000).rounded())
        return tenths < 200 ? "\(tenths / 10).\(tenths % 10) %" : "\((tenths + 5) / 10) %"
    }
}
