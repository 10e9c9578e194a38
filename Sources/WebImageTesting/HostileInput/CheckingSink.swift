import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A sink that records violations of the protocol by a decoder: a second beginning, rows out of order or outside the
/// picture, a picture over the limit.
final class CheckingSink: RowSink {
    private(set) var format: RowFormat?
    private(set) var rows = 0
    private(set) var faults: [String] = []
    private let limits: DecodeLimits
    private let keepsWhole: Bool
    /// The rows so far, or the whole picture.
    private var memory: UnsafeMutableRawBufferPointer?
    /// Separate memory for each band, so that the sanitizer detects writes beyond it.
    private var bandMemory: UnsafeMutableRawBufferPointer?

    init(_ limits: DecodeLimits, keepsWhole: Bool) {
        self.limits = limits
        self.keepsWhole = keepsWhole
    }

    deinit {
        memory?.deallocate()
        bandMemory?.deallocate()
    }

    func begin(_ format: RowFormat) throws(WebImageError) {
        if self.format != nil { faults.append("begin was called twice") }
        if format.alpha == .premultiplied { faults.append("rows are premultiplied") }
        // It throws, so that a picture over the limit takes no memory here. The decoder should have checked the limit
        // before.
        do throws(WebImageError) { try limits.check(format.size) } catch {
            faults.append("the limit was not looked at: \(error)")
            throw error
        }
        self.format = format
        memory?.deallocate()
        let whole = UnsafeMutableRawBufferPointer.allocate(
            byteCount: format.bytesPerRow * format.size.height, alignment: 64)
        // Rows that a decoder commits without writing them can be recognised by this value.
        whole.initializeMemory(as: UInt8.self, repeating: 0xA5)
        memory = whole
    }

    func band(at row: Int, count: Int) -> UnsafeMutableRawPointer {
        guard let format, let whole = memory?.baseAddress else { preconditionFailure("a band before begin") }
        precondition(row >= 0 && count > 0 && row + count <= format.size.height, "a band outside of the picture")
        if keepsWhole { return whole + row * format.bytesPerRow }
        if row != rows { faults.append("a band at \(row) after \(rows) rows") }
        bandMemory?.deallocate()
        let band = UnsafeMutableRawBufferPointer.allocate(byteCount: format.bytesPerRow * count, alignment: 64)
        band.initializeMemory(as: UInt8.self, repeating: 0xA5)
        bandMemory = band
        guard let base = band.baseAddress else { preconditionFailure("an empty band") }
        return base
    }

    func commit(at row: Int, count: Int) {
        guard let format, let whole = memory?.baseAddress else { preconditionFailure("a commit before begin") }
        precondition(row >= 0 && count > 0 && row + count <= format.size.height, "a commit outside of the picture")
        if !keepsWhole {
            guard let band = bandMemory, count * format.bytesPerRow <= band.count else {
                preconditionFailure("a commit without its band")
            }
            if row != rows { faults.append("a commit at \(row) after \(rows) rows") }
            (whole + row * format.bytesPerRow).copyMemory(
                from: UnsafeRawPointer(band.baseAddress ?? whole), byteCount: count * format.bytesPerRow)
        }
        rows = max(rows, row + count)
    }

    var wholePicture: UnsafeMutableRawPointer? { keepsWhole ? memory?.baseAddress : nil }

    /// Returns the committed rows.
    func takePixels() -> [UInt8] {
        guard let format, let memory else { return [] }
        return Array(UnsafeRawBufferPointer(rebasing: memory[..<(rows * format.bytesPerRow)]))
    }
}

/// Compares with memcmp, since the tests are unoptimised builds.
func areEqual(_ one: [UInt8], _ other: [UInt8], _ count: Int) -> Bool {
    one.withUnsafeBytes { one in
        other.withUnsafeBytes { other in
            guard let one = one.baseAddress, let other = other.baseAddress, count > 0 else { return true }
            return memcmp(one, other, count) == 0
        }
    }
}
