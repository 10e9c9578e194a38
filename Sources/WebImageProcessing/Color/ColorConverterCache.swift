import Synchronization
package import WebImageCore
import WebImageSystem

/// A cache of the most recently used converters, by profile. lcms2 takes some milliseconds to make a converter, which
/// is more than converting a thumbnail takes, and most pictures have one of very few profiles. Any thread may use the
/// cache.
///
/// Converters are made without the lock, so that a profile that takes lcms2 long delays only its own picture. Two
/// threads that request the same profile at once may both make a converter; the first one is kept, and both get it.
package final class ColorConverterCache: Sendable {
    /// Makes a converter; returns nil for unusable colours. An error means that it could not tell; the cache then calls
    /// it again the next time.
    package typealias Make = @Sendable (PixelColors, PixelLayout) throws(WebImageError) -> ColorConverter?

    fileprivate struct Entry: Sendable {
        var colors: PixelColors
        var layout: PixelLayout
        /// Nil for unusable colours, so that they are not tried again.
        var converter: ColorConverter?

        func `is`(_ colors: PixelColors, _ layout: PixelLayout) -> Bool {
            self.layout == layout && self.colors == colors
        }
    }

    fileprivate struct State: Sendable {
        /// The most recently used entry is last.
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

    /// The converter for a profile, which is made if it is not cached; nil as for
    /// ``ColorConverter/init(iccProfile:layout:)``.
    package func converter(
        for iccProfile: [UInt8], layout: PixelLayout
    ) throws(WebImageError) -> ColorConverter? {
        try converter(for: .profile(iccProfile), layout: layout)
    }

    /// The converter for colours in any description, which is made if it is not cached; nil as for
    /// ``ColorConverter/init(colors:layout:)``.
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
