// What `print` shows of requests and answers: what they are about, without credentials, and not all that they hold.

extension ImageRequest: CustomStringConvertible {
    /// `"ImageRequest(https://example.com/a.jpg, 400x300 cover)"`; credentials in the URL do not show.
    public var description: String {
        var facts = [place]
        if let size {
            let sides = [size.width, size.height].map { side in side.map { "\($0)" } ?? "" }.joined(separator: "x")
            facts.append("\(sides) \(size.fit.rawValue)")
        }
        if page > 0 { facts.append("page \(page)") }
        if !transformers.isEmpty { facts.append("\(transformers.count) transformers") }
        if cachePolicy != .cacheFirst { facts.append("\(cachePolicy.rawValue)") }
        return "ImageRequest(\(facts.joined(separator: ", ")))"
    }
}

extension ImageResponse: CustomStringConvertible {
    /// `"ImageResponse(Image(400x300 of 4000x3000, jpeg, opaque), from network, 2.1 MiB)"`.
    public var description: String {
        var facts = ["\(image)", "from \(source.rawValue)"]
        if let byteCount { facts.append("\(byteCount)") }
        if let partialError { facts.append("partial: \(partialError.code)") }
        return "ImageResponse(\(facts.joined(separator: ", ")))"
    }
}
