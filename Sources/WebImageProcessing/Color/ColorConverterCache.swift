import Synchronization
package import WebImageCore
import WebImageSystem

/// The last used converters, by profile. Making one takes lcms2 some milliseconds, more than converting a thumbnail,
/// and most pictures have one of very few profiles. Any thread may use it.
///
/// Converters are made without the lock, so that a profile that takes lcms2 long delays only its own picture. Two
/// threads that request the same profile at once may both make a converter; the first one is kept, and both get it.
package final class ColorConverterCache: Sendable {
    /// Makes a converter; returns nil for unusable colours. If it throws, it could not decide, and is called again the
    /// next time.
    package typealias Make = @Sendable (PixelColors, PixelLayout) throws(WebImageError) -> ColorConverter?

    fileprivate struct Entry: Sendable {
        var colors: PixelColors
        var layout: PixelLayout
        /// nil for unusable colours, so that they are not tried again.
        var converter: ColorConverter?

        func `is`(_ colors: PixelColors, _ layout: PixelLayout) -> Bool {
            self.layout == layout && self.colors == colors
        }
    }

    fileprivate struct State: Sendable {
        /// The last used one is at the end.
        var entries: [Entry] = []
        var profileBytes = 0
    }

    private let capacity: Int
    private let profileLimit: Int
    private let make: Make
    private let state = Guarded(State())

    /// - Parameters:
    ///   - capacity: how many converters are kept, of some hundred kilobytes each. Default 8.
    ///   - profileLimit: the limit for the bytes of all their profiles, which are the keys: comparing them is faster
    ///   than a digest, and never confuses two profiles. A longer profile is not kept. Default 16 MiB.
    ///   - make: default ``ColorConverter/init(colors:layout:)``.
    package init(
        capacity: Int = 8, profileLimit: ByteCount = .mebibytes(16),
        make: @escaping Make = { (colors, layout) throws(WebImageError) in
            ColorConverter(colors: colors, layout: layout)
        }
    ) {
        self.capacity = max(capacity, 1)
        self.profileLimit = profileLimit.bytes
        self.make = make
    }

    /// The converter for a profile, made when there is none yet; nil as ``ColorConverter/init(iccProfile:layout:)``.
    package func converter(
        for iccProfile: [UInt8], layout: PixelLayout
    ) throws(WebImageError) -> ColorConverter? {
        try converter(for: .profile(iccProfile), layout: layout)
    }

    /// The same for colours in any description; nil as ``ColorConverter/init(colors:layout:)``.
    package func converter(
        for colors: PixelColors, layout: PixelLayout
    ) throws(WebImageError) -> ColorConverter? {
        if let known = state.withLock({ $0.use(colors, layout) }) { return known.converter }
        let converter = try make(colors, layout)
        let fresh = Entry(colors: colors, layout: layout, converter: converter)
        return state.withLock { state in
            if let other = state.use(colors, layout) { return other.converter }
            state.add(fresh, capacity: capacity, profileLimit: profileLimit)
            return converter
        }
    }

    /// The bytes of the profiles that are kept now.
    package var profileByteCount: ByteCount { ByteCount(state.withLock { $0.profileBytes }) }
}

extension ColorConverterCache.State {
    /// Returns an entry, and marks it as used.
    fileprivate mutating func use(_ colors: PixelColors, _ layout: PixelLayout) -> ColorConverterCache.Entry? {
        guard let index = entries.firstIndex(where: { $0.is(colors, layout) }) else { return nil }
        let entry = entries.remove(at: index)
        entries.append(entry)
        return entry
    }

    fileprivate mutating func add(_ entry: ColorConverterCache.Entry, capacity: Int, profileLimit: Int) {
        let count = entry.colors.profileByteCount
        guard count <= profileLimit else { return }
        while entries.count >= capacity || (!entries.isEmpty && profileBytes > profileLimit - count) {
            profileBytes -= entries.removeFirst().colors.profileByteCount
        }
        entries.append(entry)
        profileBytes += count
    }
}

extension PixelColors {
    fileprivate var profileByteCount: Int {
        if case .profile(let bytes) = self { bytes.count } else { 0 }
    }
}
