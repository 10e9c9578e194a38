import WebImageCodecs
import WebImageCore

/// How a picture is made from an original: the decoding, and then the steps in order. Two recipes with the same key
/// make the same pixels from the same bytes.
struct PictureKey: Hashable, Sendable {
    /// Increase it when coders start to give other pixels for the same bytes.
    static let coderGeneration = 2

    /// The canonical text of everything that decoding, scaling and turning depend on.
    ///
    /// Each field is `letter length : value ;`, in a fixed order; fields with their default values are left out. A
    /// field's length is in UTF-8 bytes, so that no value can be mistaken for a field.
    let decode: String
    /// The text of a picture that is decoded with default settings.
    static let plain = PictureKey(PictureRecipe()).text

    /// The keys of the transformers.
    let steps: [String]

    /// - Parameter tellsSize: false for the key that all sizes of a picture have in common.
    init(_ recipe: PictureRecipe, tellsSize: Bool = true) {
        let keys = recipe.transformers.map(\.key)
        let geometry = keys.isEmpty ? nil : recipe.geometry
        let decodedSteps = geometry?.count ?? 0
        let decodedKeys = keys[..<decodedSteps]
        let chooser = geometry?.chooserKey
        let texts = [recipe.decoding.coder?.key, recipe.decoding.formatHint?.rawValue, chooser]
        let named = texts.compactMap(\.self) + decodedKeys
        decode = KeyText.with(KeyText.roomForNumbers + KeyText.room(for: named)) { text in
            text.add("g", number: Self.coderGeneration)
            if tellsSize, let size = recipe.size { text.add(size) }
            if !recipe.isOfSizeOnly { text.add(recipe.decoding) }
            for key in decodedKeys { text.add("m", key) }
            if let chooser { text.add("z", chooser) }
            return text.string
        }
        steps = Array(keys[decodedSteps...])
    }

    /// The key of a decoded picture without further steps.
    init(decode: String) { (self.decode, steps) = (decode, []) }

    /// The whole key as text, for cache keys.
    var text: String {
        if steps.isEmpty { return decode }
        return KeyText.with(decode.utf8.count + KeyText.room(for: steps)) { text in
            text.append(decode)
            for step in steps { text.add("t", step) }
            return text.string
        }
    }
}

extension CacheKey {
    /// Whether `other`, the key of another picture of the same original, says that it can be made from this key's
    /// picture by further steps. It calls no code of transformers, so that it may be asked under a lock.
    func isBeginning(of other: CacheKey) -> Bool {
        let (own, others) = (text.utf8, other.text.utf8)
        // The steps are the last fields of the text, and its fields cannot be mistaken.
        return others.starts(with: own) && others.dropFirst(own.count).first == UInt8(ascii: "t")
    }

    /// The key of a picture that only has a size. It is the same as with the text of its ``PictureKey``, but takes a
    /// fraction of the time, for programs that make a new request for each look-up in memory.
    init(original: String, ofSizeOnly size: TargetSize?) {
        self = KeyText.with(KeyText.roomForNumbers) { text in
            text.add("g", number: PictureKey.coderGeneration)
            if let size { text.add(size) }
            return CacheKey(original: original, variant: text.bytes)
        }
    }
}

/// Writes the fields of a picture's key, one after the other, into the caller's memory.
private struct KeyText: ~Copyable {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var length = 0

    /// Room for one of each field with a number or a fixed word, including its delimiters.
    static let roomForNumbers = 512

    /// Room for a field of each of these texts.
    static func room(for texts: [String]) -> Int { texts.reduce(0) { $0 + $1.utf8.count + 24 } }

    /// - Parameter room: the most bytes that `body` writes.
    static func with<Result>(_ room: Int, _ body: (inout KeyText) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { memory in
            var text = KeyText(memory: memory)
            return body(&text)
        }
    }

    private init(memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    /// The bytes that were written so far; never more than the memory holds.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[..<length]) }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    @inline(__always) private mutating func append(_ byte: UInt8) {
        precondition(length < memory.count, "a key has more fields than room")
        memory.initializeElement(at: length, to: byte)
        length += 1
    }

    mutating func add(_ name: Unicode.Scalar, _ value: String) {
        begin(name, value.utf8.count)
        append(value)
        end()
    }

    mutating func add(_ name: Unicode.Scalar, number: Int) {
        begin(name, Self.digits(number))
        append(number)
        end()
    }

    mutating func add(_ size: TargetSize) {
        let (width, height) = (size.width ?? 0, size.height ?? 0)
        begin("s", Self.digits(width) + 1 + Self.digits(height))
        append(width)
        append(UInt8(ascii: "x"))
        append(height)
        end()
        if size.fit != .contain { add("f", size.fit.rawValue) }
        if size.upscale { add("u", number: 1) }
    }

    mutating func add(_ decoding: ImageRequest.Decoding) {
        if decoding.ignoresOrientation { add("o", "ignore") } else if !decoding.appliesOrientation { add("o", "keep") }
        if decoding.keepsBitDepth { add("d", number: 16) }
        if !decoding.convertsToSRGB { add("c", "keep") }
        if decoding.scalesInLinearLight { add("l", number: 1) }
        if let limit = decoding.bitmapLimit { add("b", number: limit.bytes) }
        if decoding.firstFrameOnly { add("1", number: 1) }
        if decoding.usesEmbeddedThumbnail { add("3", number: 1) }
        if let limit = decoding.frameLimit { add("2", number: limit) }
        if !decoding.transformsAnimations { add("n", number: 0) }
        if !decoding.transformsVectors { add("v", number: 0) }
        if decoding.requiresAnimation { add("a", number: 1) }
        if decoding.page != 0 { add("p", number: decoding.page) }
        if let coder = decoding.coder { add("k", coder.key) }
        if let format = decoding.formatHint { add("h", format.rawValue) }
    }

    private mutating func begin(_ name: Unicode.Scalar, _ length: Int) {
        append(UInt8(ascii: name))
        append(length)
        append(UInt8(ascii: ":"))
    }

    private mutating func end() { append(UInt8(ascii: ";")) }

    private mutating func append(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(number.magnitude)
    }

    private mutating func append(_ number: UInt) {
        let end = length + Self.digits(number)
        precondition(end <= memory.count, "a key has more fields than room")
        var rest = number
        for place in (length..<end).reversed() {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            memory.initializeElement(at: place, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        }
        length = end
    }

    /// How many bytes a number takes.
    private static func digits(_ number: Int) -> Int { digits(number.magnitude) + (number < 0 ? 1 : 0) }

    private static func digits(_ number: UInt) -> Int {
        number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 3 + digits(number / 1000)
    }
}
