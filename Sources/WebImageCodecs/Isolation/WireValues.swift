import WebImageCore

/* Every stored property of these types stands here; `WireTests` compares their number with Swift's own. */

extension PixelSize: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(width)
        writer.put(height)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(width: try reader.int(), height: try reader.int())
    }
}

extension PixelRect: WireValue {
    func write(to writer: inout WireWriter) {
        for number in [x, y, width, height] { writer.put(number) }
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(
            x: try reader.double(), y: try reader.double(), width: try reader.double(), height: try reader.double())
    }
}

extension ImageFormat: WireValue {
    func write(to writer: inout WireWriter) { writer.put(rawValue) }

    init(from reader: inout WireReader) throws(WireReader.Fault) { self.init(rawValue: try reader.string()) }
}

extension ColorDescription: WireValue {
    func write(to writer: inout WireWriter) {
        for number in [primaries, transfer, matrix] { writer.put(number) }
        writer.put(isFullRange)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(
            primaries: try reader.byte(), transfer: try reader.byte(), matrix: try reader.byte(),
            isFullRange: try reader.bool())
    }
}

extension ColorCalibration: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(decodingExponent) { $0.put($1) }
        writer.put(chromaticities) { $0.put($1) { $0.put($1) } }
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        self.init(
            decodingExponent: try reader.optional { (reader) throws(Fault) in try reader.double() },
            chromaticities: try reader.optional { (reader) throws(Fault) in
                try reader.array(ofAtLeast: 8) { (reader) throws(Fault) in try reader.double() }
            })
    }
}

extension PixelDensity: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(horizontal)
        writer.put(vertical)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        guard let density = PixelDensity(horizontal: try reader.double(), vertical: try reader.double()) else {
            throw WireReader.Fault()
        }
        self = density
    }
}

extension ImageMetadata: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(exif) { $0.put($1) }
        writer.put(xmp) { $0.put($1) }
        writer.put(iptc) { $0.put($1) }
        writer.put(density)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        self.init(
            exif: try reader.optional { (reader) throws(Fault) in try reader.bytes() },
            xmp: try reader.optional { (reader) throws(Fault) in try reader.bytes() },
            iptc: try reader.optional { (reader) throws(Fault) in try reader.bytes() },
            density: try reader.optionalValue())
    }
}

extension DrawingMemory: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(bytesPerPixel)
        writer.put(fixed.bytes)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(bytesPerPixel: try reader.double(), fixed: ByteCount(try reader.int()))
        guard bytesPerPixel >= 0, bytesPerPixel.isFinite, fixed >= .zero else { throw WireReader.Fault() }
    }
}

extension Orientation: WireValue {
    func write(to writer: inout WireWriter) { writer.put(rawValue) }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        guard let orientation = Orientation(rawValue: try reader.byte()) else { throw WireReader.Fault() }
        self = orientation
    }
}

extension ImageHeader: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(format)
        writer.put(size)
        writer.put(sizeBeforeCrop)
        writer.put(orientation)
        writer.put(ignoredOrientation)
        writer.put(hasAlpha)
        writer.put(bitDepth)
        writer.put(colorModel.rawValue)
        writer.put(paletteBits) { $0.put($1) }
        writer.put(isProgressive)
        writer.put(iccProfile) { $0.put($1) }
        writer.put(colorDescription)
        writer.put(colorCalibration)
        writer.put(metadata)
        writer.put(frameCount) { $0.put($1) }
        writer.put(loopCount) { $0.put($1) }
        writer.put(isVector)
        writer.put(drawingMemory)
        writer.put(otherSizes) { $0.put($1) }
        writer.put(isDividedByFrequencies)
        writer.put(keepsWholePicture)
        writer.put(tileDivisor)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        self.init(format: try reader.value(), size: try reader.value())
        sizeBeforeCrop = try reader.optionalValue()
        orientation = try reader.value()
        ignoredOrientation = try reader.optionalValue()
        hasAlpha = try reader.bool()
        bitDepth = try reader.int()
        guard let model = ColorModel(rawValue: try reader.string()) else { throw Fault() }
        colorModel = model
        paletteBits = try reader.optional { (reader) throws(Fault) in try reader.int() }
        guard paletteBits.map({ 1...8 ~= $0 }) ?? true else { throw Fault() }
        isProgressive = try reader.bool()
        iccProfile = try reader.optional { (reader) throws(Fault) in try reader.bytes() }
        colorDescription = try reader.optionalValue()
        colorCalibration = try reader.optionalValue()
        metadata = try reader.value()
        frameCount = try reader.optional { (reader) throws(Fault) in try reader.int() }
        loopCount = try reader.optional { (reader) throws(Fault) in try reader.int() }
        isVector = try reader.bool()
        drawingMemory = try reader.value()
        otherSizes = try reader.array(ofAtLeast: 16) { (reader) throws(Fault) in try reader.value() }
        isDividedByFrequencies = try reader.bool()
        keepsWholePicture = try reader.bool()
        tileDivisor = try reader.int()
    }
}

extension RowFormat: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(size)
        writer.put(layout.rawValue)
        writer.put(alpha.rawValue)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        let size = try reader.value(PixelSize.self)
        guard let layout = PixelLayout(rawValue: try reader.byte()), let alpha = AlphaMode(rawValue: try reader.byte())
        else { throw WireReader.Fault() }
        self.init(size: size, layout: layout, alpha: alpha)
    }
}

extension DecodeLimits: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(pixels)
        writer.put(animationPixels)
        writer.put(frames)
        writer.put(bytes.bytes)
        // "No limit" may be a duration that is longer than the other process takes.
        writer.put(min(time, .seconds(1 << 49)))
        writer.put(min(drawingTime, .seconds(1 << 49)))
        writer.put(metadata.bytes)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(
            pixels: try reader.int(), animationPixels: try reader.int(), frames: try reader.int(),
            bytes: ByteCount(try reader.int()), time: try reader.duration(), drawingTime: try reader.duration(),
            metadata: ByteCount(try reader.int()))
    }
}

/// The checkpoint is not sent, and of the idle threads only their number.
extension DecodeOptions: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(limits)
        writer.put(keepsBitDepth)
        writer.put(page)
        writer.put(usesEmbeddedThumbnail)
        writer.put(min(max(idleThreads?.idleCount ?? 0, 0), WorkerThreads.most))
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(limits: try reader.value(), keepsBitDepth: try reader.bool())
        page = try reader.int()
        usesEmbeddedThumbnail = try reader.bool()
        idleThreads = WorkerThreads.helpers(try reader.int())
    }
}

extension VectorRaster: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(part)
        writer.put(size)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(part: try reader.value(), size: try reader.value())
    }
}

/// A plan is sent without its sink.
extension DecodePlan: WireValue {
    func write(to writer: inout WireWriter) {
        writer.put(scaleDenominator)
        writer.put(raster)
        writer.put(size)
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(
            scaleDenominator: try reader.int(), raster: try reader.optionalValue(), size: try reader.optionalValue(),
            sink: nil)
    }
}

/// An error of a decoder: a code that concerns pictures, a message, a format and causes of the same kind.
extension WebImageError: WireValue {
    /// Errors are read to this depth.
    private static let maxCauses = 4
    private static let longestMessage = 2000

    func write(to writer: inout WireWriter) {
        var errors = [self]
        while errors.count < Self.maxCauses, let cause = errors[errors.count - 1].cause {
            errors.append(cause as? WebImageError ?? WebImageError(.corruptData, "\(cause)"))
        }
        writer.put(errors) { writer, error in
            writer.put(error.code.rawValue)
            writer.put(String(error.message.prefix(Self.longestMessage)))
            writer.put(error.format)
            writer.put(error.limit.flatMap { Limit.all.firstIndex(of: $0) }) { $0.put($1) }
        }
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        let errors = try reader.array(ofAtLeast: 18) { (reader) throws(Fault) -> WebImageError in
            let code = Code(rawValue: try reader.int())
            let message = try reader.string()
            guard code == .cancelled || 3000..<4000 ~= code.rawValue, message.utf8.count <= 4 * Self.longestMessage
            else { throw Fault() }
            var error = WebImageError(code, message, format: try reader.optionalValue())
            error.limit = try reader.optional { (reader) throws(Fault) in
                let index = try reader.int()
                guard Limit.all.indices.contains(index) else { throw Fault() }
                return Limit.all[index]
            }
            return error
        }
        guard var error = errors.last, errors.count <= Self.maxCauses else { throw Fault() }
        for outer in errors.dropLast().reversed() {
            let cause = error
            error = WebImageError(outer.code, outer.message, cause: cause, format: outer.format)
            error.limit = outer.limit
        }
        self = error
    }
}
