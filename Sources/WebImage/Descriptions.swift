// The descriptions of requests and answers for `print`: a summary, without credentials.

extension ImageRequest: CustomStringConvertible {
    /// `"ImageRequest(https://example.com/a.jpg, 400x300 cover)"`; credentials in the URL are not shown.
    public var description: String {
        let (options, policy) = (options, options.caching.policy)
        var facts = [redactedURL]
        if let size = options.size {
            let sides = [size.width, size.height].map { side in side.map { "\($0)" } ?? "" }.joined(separator: "x")
            facts.append("\(sides) \(size.fit.rawValue)")
        }
        if options.decoding.page > 0 { facts.append("page \(options.decoding.page)") }
        if !options.transformers.isEmpty { facts.append("\(options.transformers.count) transformers") }
        if policy != .cacheFirst { facts.append(policy.rawValue) }
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
