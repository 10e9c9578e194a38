import WebImage

extension ProcessingOptions {
    /// A canonical text of all options that change the bytes of a result: URLs with the same options in another
    /// spelling or order have the same text. ``expires``, ``filename`` and ``returnAttachment`` are not a part of it.
    public var canonicalText: String {
        func text(_ value: Bool?) -> String { value.map { $0 ? "1" : "0" } ?? "-" }
        func text(_ color: RGBColor?) -> String { color.map { "\($0.red),\($0.green),\($0.blue)" } ?? "-" }
        var parts = [ImageTransform.imgproxy(geometry).key]
        if let trim {
            parts.append("t=\(trim.threshold),\(text(trim.color)),\(trim.equalHorizontally),\(trim.equalVertically)")
        }
        parts.append("ar=" + text(autoRotate))
        parts.append("bg=" + text(background))
        parts.append("fx=\(blur),\(sharpen),\(pixelate)")
        let mark = watermark
        if mark.opacity > 0 {
            let place = mark.place
            parts.append("wm=\(mark.opacity),\(place.kind.rawValue),\(place.x),\(place.y),\(mark.tiles),\(mark.scale)")
        }
        let flags = [stripMetadata, keepCopyright, stripColorProfile, preserveHDR, enforceThumbnail].map(text)
        parts.append("m=" + flags.joined(separator: ","))
        let qualities = formatQuality.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key.rawValue):\($0.value)"
        }
        parts.append("q=\(quality),\(maxBytes)," + qualities.joined(separator: ","))
        parts.append("f=\(format?.rawValue ?? "-")")
        parts.append("skp=" + skipProcessing.map(\.rawValue).sorted().joined(separator: ","))
        parts.append("raw=\(raw)")
        let limits = [security.sourceResolution, security.animationFrameResolution].map { $0.map { "\($0)" } ?? "-" }
        let counts = [security.sourceFileSize, security.animationFrames, security.resultDimension].map {
            $0.map { "\($0)" } ?? "-"
        }
        parts.append("s=" + (limits + counts).joined(separator: ","))
        parts.append("cb=\(cachebuster.utf8.count):\(cachebuster)")
        return parts.joined(separator: ";")
    }
}
