package import WebImageCore

/// The converters that were used last, by profile. To make one takes lcms2 some milliseconds, more than it takes to
/// convert a thumbnail, and most pictures have one of very few profiles. A value: its owner puts it behind a lock.
package struct ColorConverterCache: Sendable {
    private struct Entry: Sendable {
        var colors: PixelColors
        var layout: PixelLayout
        /// nil for colours that cannot be used, so that it is not tried again.
        var converter: ColorConverter?
    }

    /// Longer profiles, which hold tables, are each made for one device and would only push out the common ones.
    private static let longestProfile = 64 << 10

    private let capacity: Int
    /// The one used last is last.
    private var entries: [Entry] = []

    /// - Parameter capacity: how many converters are kept, of some hundred kilobytes each. Default 8.
    package init(capacity: Int = 8) { self.capacity = max(capacity, 1) }

    /// The converter for a profile, made when there is none yet; nil as ``ColorConverter/init(iccProfile:layout:)``.
    package mutating func converter(for iccProfile: [UInt8], layout: PixelLayout) -> ColorConverter? {
        converter(for: .profile(iccProfile), layout: layout)
    }

    /// The same for colours that are said in any way; nil as ``ColorConverter/init(colors:layout:)``.
    package mutating func converter(for colors: PixelColors, layout: PixelLayout) -> ColorConverter? {
        if let index = entries.firstIndex(where: { $0.layout == layout && $0.colors == colors }) {
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.converter
        }
        let converter = ColorConverter(colors: colors, layout: layout)
        if case .profile(let bytes) = colors, bytes.count > Self.longestProfile { return converter }
        if entries.count >= capacity { entries.removeFirst() }
        entries.append(Entry(colors: colors, layout: layout, converter: converter))
        return converter
    }
}
