import WebImageCore

/// How an encoder in a worker is made.
struct EncoderOpening: WireValue {
    /// ``ImageCoder/key``.
    var coder: String
    var format: ImageFormat
    /// nil for a still.
    var animation: AnimationDescription?
    var options: EncodeOptions

    func write(to writer: inout WireWriter) {
        writer.put(coder)
        writer.put(format)
        writer.put(animation)
        writer.put(options)
    }

    init(coder: String, format: ImageFormat, animation: AnimationDescription? = nil, options: EncodeOptions) {
        self.coder = coder
        self.format = format
        self.animation = animation
        self.options = options
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        coder = try reader.string()
        format = try reader.value()
        animation = try reader.optionalValue()
        options = try reader.value()
    }

    /// Makes the encoder with one of `coders`.
    func encoder(_ coders: [any ImageCoder]) throws(WebImageError) -> any AnimationEncoder {
        guard let coder = coders.first(where: { $0.key == coder }) else {
            throw WebImageError(.decoderUnavailable, "the encoder process has no \(coder)")
        }
        guard let animation else { return StillEncoder(coder, format, options) }
        guard let encoder = try coder.makeAnimationEncoder(format, animation, options) else {
            throw WebImageError(.cannotEncode, "the encoder knows no animations", format: format)
        }
        return encoder
    }
}

/// A still, or the next frame of an animation, without its pixels.
struct PictureToEncode: WireValue {
    var size: PixelSize
    var layout: PixelLayout
    var info: Image.Info
    /// The delay of a frame.
    var delay: Duration

    func write(to writer: inout WireWriter) {
        writer.put(size)
        writer.put(layout.rawValue)
        writer.put(info)
        writer.put(delay)
    }

    init(_ picture: Image, delay: Duration) {
        size = picture.size
        layout = picture.layout
        info = picture.info
        self.delay = delay
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        size = try reader.value()
        guard let layout = PixelLayout(rawValue: try reader.byte()) else { throw WireReader.Fault() }
        self.layout = layout
        info = try reader.value()
        delay = try reader.duration()
    }
}

extension AnimationDescription: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(size)
        writer.put(loopCount) { $0.put($1) }
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        self.init(
            size: try reader.value(),
            loopCount: try reader.optional { (reader) throws(Fault) in try reader.int() })
    }
}

extension Image.Info: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(header)
        writer.put(alpha.rawValue)
        writer.put(orientation)
        writer.put(iccProfile) { $0.put($1) }
        writer.put(colorDescription)
        writer.put(metadata)
        writer.put(isPartial)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        let header = try reader.optionalValue(ImageHeader.self)
        guard let alpha = AlphaMode(rawValue: try reader.byte()) else { throw Fault() }
        self.init(
            header: header, alpha: alpha, orientation: try reader.value(),
            iccProfile: try reader.optional { (reader) throws(Fault) in try reader.bytes() },
            colorDescription: try reader.optionalValue(), metadata: try reader.value(), isPartial: try reader.bool())
    }
}

/// Of the context only the number of idle threads is sent.
extension EncodeOptions: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(quality) { $0.put($1) }
        writer.put(isLossless)
        writer.put(chroma.rawValue)
        writer.put(avifSpeed) { $0.put($1) }
        writer.put(webpEffort) { $0.put($1) }
        writer.put(webpContent.rawValue)
        writer.put(jxlEffort)
        writer.put(anymap.rawValue)
        writer.put(progressive)
        writer.put(optimizesCoding)
        writer.put(compressionLevel)
        writer.put(dithers)
        writer.put(paletteColors) { $0.put($1) }
        for part in [background.red, background.green, background.blue] { writer.put(part) }
        writer.put(embedsICCProfile)
        writer.put(firstFrameOnly)
        writer.put(maxPixelSize)
        writer.put(maxFileSize) { $0.put($1.bytes) }
        writer.put(embedsThumbnail)
        writer.put(keepsMetadata)
        writer.put(min(max(context.idleThreads?.idleCount ?? 0, 0), WorkerThreads.most))
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        func number(_ reader: inout WireReader) throws(Fault) -> Int? {
            try reader.optional { (reader) throws(Fault) in try reader.int() }
        }
        func choice<Choice: RawRepresentable<String>>(_ reader: inout WireReader) throws(Fault) -> Choice {
            guard let choice = Choice(rawValue: try reader.string()) else { throw Fault() }
            return choice
        }
        self.init(quality: try number(&reader), isLossless: try reader.bool())
        chroma = try choice(&reader)
        avifSpeed = try number(&reader)
        webpEffort = try number(&reader)
        webpContent = try choice(&reader)
        jxlEffort = try reader.int()
        anymap = try choice(&reader)
        progressive = try reader.bool()
        optimizesCoding = try reader.bool()
        compressionLevel = try reader.int()
        dithers = try reader.bool()
        paletteColors = try number(&reader)
        background = RGBColor(red: try reader.byte(), green: try reader.byte(), blue: try reader.byte())
        embedsICCProfile = try reader.bool()
        firstFrameOnly = try reader.bool()
        maxPixelSize = try reader.optionalValue()
        maxFileSize = try number(&reader).map { ByteCount($0) }
        embedsThumbnail = try reader.bool()
        keepsMetadata = try reader.bool()
        context.idleThreads = WorkerThreads.helpers(try reader.int())
    }
}
