import WebImage

/// Reads the options of one URL in order; later ones win. Arguments that an option leaves out keep their earlier
/// values.
struct OptionReader {
    private(set) var options = ProcessingOptions()
    /// The presets that are being read, outermost first.
    private var openPresets: [String] = []
    /// The value that an empty `trim` switched off. A later `trim` keeps its equal sides, as in imgproxy.
    private var trimSwitchedOff: ProcessingOptions.Trim?
    private let grammar: URLGrammar

    init(_ grammar: URLGrammar) { self.grammar = grammar }

    /// - Parameter isPreset: whether the option comes from a preset. Those need not be on the list of allowed options.
    mutating func apply(_ option: WrittenOption, isPreset: Bool = false) throws(RequestRefusal) {
        if !isPreset, let allowed = grammar.allowedOptions, !allowed.contains(option.name) {
            throw .invalidURL("\(option.name) is not an option that IMGPROXY_ALLOWED_PROCESSING_OPTIONS lists")
        }
        guard let name = OptionName.byName[option.name] else {
            throw .invalidURL("there is no option \(String(option.name.prefix(80)))")
        }
        let arguments = OptionArguments(name: option.name, all: option.arguments.map { $0[...] })
        if try readGeometry(name, arguments) { return }
        if try readFilter(name, arguments) { return }
        if try readOutput(name, arguments) { return }
        try readSecurity(name, arguments)
    }

    mutating func apply(preset name: String) throws(RequestRefusal) {
        guard let preset = grammar.presets[name] else {
            throw .invalidURL("there is no preset \(String(name.prefix(80)))")
        }
        guard !openPresets.contains(name) else {
            options.warnings.append("the preset \(name) contains itself; it is applied once")
            return
        }
        openPresets.append(name)
        for option in preset { try apply(option, isPreset: true) }
        openPresets.removeLast()
    }

    private mutating func flag(_ arguments: OptionArguments) throws(RequestRefusal) -> Bool {
        arguments.flag(try arguments.only(), &options.warnings)
    }

    // MARK: - Sizes and places

    private mutating func readGeometry(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(RequestRefusal) -> Bool {
        switch name {
        case .resize:
            try arguments.check(atMost: 8)
            if let type = arguments.filled(0) { try readType(type, arguments) }
            if arguments.all.count > 1 { try readSize(arguments.from(1)) }
        case .size: try readSize(arguments)
        case .resizingType: try readType(try arguments.only(), arguments)
        case .width: try readWidth(try arguments.only(), arguments)
        case .height: options.geometry.height = try arguments.side(try arguments.only())
        case .minWidth: options.geometry.minWidth = try arguments.side(try arguments.only())
        case .minHeight: options.geometry.minHeight = try arguments.side(try arguments.only())
        case .zoom:
            try arguments.check(atMost: 2)
            options.geometry.zoomX = try arguments.positive(arguments.all[0])
            options.geometry.zoomY = options.geometry.zoomX
            if arguments.all.count > 1 { options.geometry.zoomY = try arguments.positive(arguments.all[1]) }
        case .dpr:
            options.geometry.dpr = try arguments.positive(try arguments.only())
            options.saysDPR = true
        case .enlarge: options.geometry.enlarge = try flag(arguments)
        case .extend: try readExtend(arguments)
        case .extendAspectRatio:
            try arguments.check(atMost: 4)
            options.geometry.extendAspectRatio = arguments.flag(arguments.all[0], &options.warnings)
            if arguments.all.count > 1 {
                try arguments.from(1).read(&options.geometry.extendAspectRatioGravity, canvas: true)
            }
        case .gravity: try arguments.read(&options.geometry.gravity)
        case .crop:
            try arguments.check(atMost: 5)
            options.geometry.cropWidth = try arguments.number(arguments.all[0])
            if arguments.all.count > 1 { options.geometry.cropHeight = try arguments.number(arguments.all[1]) }
            if arguments.all.count > 2 {
                var place = options.geometry.cropGravity ?? .init()
                try arguments.from(2).read(&place)
                options.geometry.cropGravity = place
            }
        case .padding: try readPadding(arguments)
        case .rotate:
            let angle = try arguments.whole(try arguments.only(), from: -1_000_000)
            guard angle % 90 == 0 else { throw arguments.fails(arguments.all[0]) }
            options.geometry.rotation = ((angle / 90) % 4 + 4) % 4
        case .flip:
            try arguments.check(atMost: 2)
            if let flips = arguments.filled(0) {
                options.geometry.flipsHorizontally = arguments.flag(flips, &options.warnings)
            }
            if let flips = arguments.filled(1) {
                options.geometry.flipsVertically = arguments.flag(flips, &options.warnings)
            }
        default: return false
        }
        return true
    }

    private mutating func readWidth(_ argument: Substring, _ arguments: OptionArguments) throws(RequestRefusal) {
        options.geometry.width = try arguments.side(argument)
        options.saysWidth = true
    }

    private mutating func readType(_ argument: Substring, _ arguments: OptionArguments) throws(RequestRefusal) {
        guard let type = ImgproxyGeometry.Resizing(rawValue: String(argument)) else { throw arguments.fails(argument) }
        options.geometry.resizing = type
    }

    private mutating func readSize(_ arguments: OptionArguments) throws(RequestRefusal) {
        try arguments.check(atMost: 7)
        if let width = arguments.filled(0) { try readWidth(width, arguments) }
        if let height = arguments.filled(1) { options.geometry.height = try arguments.side(height) }
        if let enlarge = arguments.filled(2) {
            options.geometry.enlarge = arguments.flag(enlarge, &options.warnings)
        }
        if arguments.filled(3) != nil { try readExtend(arguments.from(3)) }
    }

    private mutating func readExtend(_ arguments: OptionArguments) throws(RequestRefusal) {
        try arguments.check(atMost: 4)
        options.geometry.extend = arguments.flag(arguments.all[0], &options.warnings)
        if arguments.all.count > 1 { try arguments.from(1).read(&options.geometry.extendGravity, canvas: true) }
    }

    private mutating func readPadding(_ arguments: OptionArguments) throws(RequestRefusal) {
        try arguments.check(atMost: 4)
        var padding = options.geometry.padding
        if let top = arguments.filled(0) { padding.top = try arguments.side(top) }
        (padding.right, padding.bottom) = (padding.top, padding.top)
        if let right = arguments.filled(1) { padding.right = try arguments.side(right) }
        padding.left = padding.right
        if let bottom = arguments.filled(2) { padding.bottom = try arguments.side(bottom) }
        if let left = arguments.filled(3) { padding.left = try arguments.side(left) }
        options.geometry.padding = padding
    }

    // MARK: - Filters

    private mutating func readFilter(_ name: OptionName, _ arguments: OptionArguments) throws(RequestRefusal) -> Bool {
        switch name {
        case .trim: try readTrim(arguments)
        case .autoRotate: options.autoRotate = try flag(arguments)
        case .background:
            if arguments.all.count == 3 {
                let parts = try arguments.all.map { part throws(RequestRefusal) in
                    guard let value = UInt8(part) else { throw arguments.fails(part) }
                    return value
                }
                options.background = RGBColor(red: parts[0], green: parts[1], blue: parts[2])
            } else {
                let text = try arguments.only()
                options.background = text.isEmpty ? nil : try arguments.color(text)
            }
        case .blur: options.blur = try arguments.number(try arguments.only(), in: 0...1e4)
        case .sharpen: options.sharpen = try arguments.number(try arguments.only(), in: 0...1e4)
        case .pixelate: options.pixelate = try arguments.whole(try arguments.only())
        case .watermark: try readWatermark(arguments)
        default: return false
        }
        return true
    }

    private mutating func readTrim(_ arguments: OptionArguments) throws(RequestRefusal) {
        try arguments.check(atMost: 4)
        var trim = options.trim ?? trimSwitchedOff ?? ProcessingOptions.Trim(threshold: 0)
        let threshold = arguments.filled(0)
        if let threshold { trim.threshold = try arguments.number(threshold, in: 0...1e9) }
        trim.color = nil
        if let color = arguments.filled(1) { trim.color = try arguments.color(color) }
        if let equal = arguments.filled(2) { trim.equalHorizontally = arguments.flag(equal, &options.warnings) }
        if let equal = arguments.filled(3) { trim.equalVertically = arguments.flag(equal, &options.warnings) }
        options.trim = threshold == nil ? nil : trim
        trimSwitchedOff = threshold == nil ? trim : nil
    }

    private mutating func readWatermark(_ arguments: OptionArguments) throws(RequestRefusal) {
        // The last two arguments are those of imgproxy Pro; its open edition ignores them.
        try arguments.check(atMost: 7)
        var mark = options.watermark
        mark.opacity = try arguments.number(arguments.all[0], in: 0...1)
        if let position = arguments.filled(1) {
            mark.tiles = position == "re"
            if !mark.tiles {
                guard let kind = ImgproxyGeometry.Place.Kind(rawValue: String(position)),
                    kind != .smart, kind != .focusPoint
                else { throw arguments.fails(position) }
                mark.place.kind = kind
            }
        }
        if let x = arguments.filled(2) { mark.place.x = try arguments.number(x, in: -1e9...1e9) }
        if let y = arguments.filled(3) { mark.place.y = try arguments.number(y, in: -1e9...1e9) }
        if let scale = arguments.filled(4) { mark.scale = try arguments.number(scale, in: 0...100) }
        options.watermark = mark
    }

    // MARK: - What is written, and how it is answered

    private mutating func readOutput(_ name: OptionName, _ arguments: OptionArguments) throws(RequestRefusal) -> Bool {
        switch name {
        case .stripMetadata: options.stripMetadata = try flag(arguments)
        case .keepCopyright: options.keepCopyright = try flag(arguments)
        case .stripColorProfile: options.stripColorProfile = try flag(arguments)
        case .preserveHDR: options.preserveHDR = try flag(arguments)
        case .enforceThumbnail: options.enforceThumbnail = try flag(arguments)
        case .quality: options.quality = try quality(try arguments.only(), arguments)
        case .formatQuality:
            guard !arguments.all.isEmpty, arguments.all.count % 2 == 0 else {
                throw .invalidURL("\(arguments.name): it takes pairs of a format and a quality")
            }
            for index in stride(from: 0, to: arguments.all.count, by: 2) {
                let format = try arguments.format(arguments.all[index])
                options.formatQuality[format] = try quality(arguments.all[index + 1], arguments)
            }
        case .maxBytes: options.maxBytes = try arguments.whole(try arguments.only())
        case .format: options.format = try arguments.format(try arguments.only())
        case .preset: for name in arguments.all { try apply(preset: String(name)) }
        case .skipProcessing:
            for name in arguments.all { options.skipProcessing.insert(try arguments.format(name)) }
        case .raw: options.raw = try flag(arguments)
        case .cachebuster: options.cachebuster = String(try arguments.only())
        case .filename: try readFilename(arguments)
        case .returnAttachment: options.returnAttachment = try flag(arguments)
        case .expires:
            let seconds = try arguments.wholeOrNone(try arguments.only())
            guard seconds == 0 || seconds >= grammar.now() else { throw .invalidURL("the URL has expired") }
            options.expires = seconds
        default: return false
        }
        return true
    }

    private func quality(_ argument: Substring, _ arguments: OptionArguments) throws(RequestRefusal) -> Int {
        let value = try arguments.whole(argument)
        guard value <= 100 else { throw arguments.fails(argument) }
        return value
    }

    private mutating func readFilename(_ arguments: OptionArguments) throws(RequestRefusal) {
        try arguments.check(atMost: 2)
        let text = arguments.all[0]
        if arguments.all.count > 1, arguments.flag(arguments.all[1], &options.warnings) {
            guard let bytes = Base64URL.decode(text), let name = String(validating: bytes, as: UTF8.self) else {
                throw arguments.fails(text)
            }
            options.filename = name
        } else {
            options.filename = String(text)
        }
    }

    private mutating func readSecurity(_ name: OptionName, _ arguments: OptionArguments) throws(RequestRefusal) {
        guard grammar.allowsSecurityOptions else { throw .securityOption(arguments.name) }
        let argument = try arguments.only()
        switch name {
        case .maxSourceResolution: options.security.sourceResolution = try arguments.number(argument, in: 1e-6...1e6)
        case .maxSourceFileSize: options.security.sourceFileSize = try arguments.wholeOrNone(argument)
        case .maxAnimationFrames: options.security.animationFrames = try arguments.whole(argument, from: 1)
        case .maxAnimationFrameResolution:
            options.security.animationFrameResolution = try arguments.number(argument, in: 0...1e6)
        default:
            options.security.resultDimension = min(try arguments.wholeOrNone(argument), ImgproxyGeometry.longestSide)
        }
    }
}
