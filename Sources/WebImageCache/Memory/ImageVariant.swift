package import WebImageCore

/// Describes one of the sizes in which a picture is cached.
package struct ImageVariant: Hashable, Sendable {
    /// The same for all sizes of one picture: its original key and everything else that changes pixels.
    package var group: CacheKey
    /// The size in display orientation, like all sizes here.
    package var size: PixelSize
    package var fit: ImageFit
    /// The size of the whole picture, before scaling.
    package var originalSize: PixelSize

    package init(group: CacheKey, size: PixelSize, fit: ImageFit, originalSize: PixelSize) {
        self.group = group
        self.size = size
        self.fit = fit
        self.originalSize = originalSize
    }

    /// Whether nothing was scaled or cropped.
    var isComplete: Bool { size == originalSize }
}

/// How well a picture of one size suits a request for another size, from the worst to the best.
///
/// Coil's rule: a picture is suitable if it covers both sides within a pixel, and is at most twice as large on each.
package enum VariantFitness: Int, Comparable, Sendable {
    /// Too small: can be shown until the right one is available.
    case placeholder
    /// Covers the requested size, but is much larger: scaling it down costs less than reading and decoding the
    /// original.
    case source
    /// Covers the requested size and is at most twice as large on each side: suitable if the size need not be exact.
    case covering
    /// The requested size, within a pixel.
    case exact

    package static func < (left: VariantFitness, right: VariantFitness) -> Bool { left.rawValue < right.rawValue }

    /// How well `have` is suited for a size of the same picture; nil if it shows another part of it.
    package init?(_ have: ImageVariant, wanted: PixelSize, fit: ImageFit) {
        guard !have.size.isEmpty, !wanted.isEmpty else { return nil }
        let (width, height) = (have.size.width, have.size.height)
        if !Self.showsSamePart(have, wanted, fit) {
            // Any part can be made from the whole picture.
            guard have.isComplete, width >= wanted.width - 1, height >= wanted.height - 1 else { return nil }
            self = .source
        } else if abs(width - wanted.width) <= 1, abs(height - wanted.height) <= 1 {
            self = .exact
        } else if width < wanted.width - 1 || height < wanted.height - 1 {
            self = .placeholder
        } else {
            let isNear = (width + 1) / 2 <= wanted.width && (height + 1) / 2 <= wanted.height
            self = isNear ? .covering : .source
        }
    }

    private static func showsSamePart(_ have: ImageVariant, _ wanted: PixelSize, _ fit: ImageFit) -> Bool {
        switch (have.fit, fit) {
        case (.contain, .contain): true
        case (.fill, .fill), (.cover, .cover): hasAspect(have.size, of: wanted)
        default: hasAspect(have.size, of: have.originalSize) && hasAspect(wanted, of: have.originalSize)
        }
    }

    /// Whether `size` has the aspect ratio of `other`: scaled to its width, the heights are equal within a pixel.
    private static func hasAspect(_ size: PixelSize, of other: PixelSize) -> Bool {
        abs(Double(size.height) / Double(size.width) * Double(other.width) - Double(other.height)) <= 1
    }
}

/// The entries that are sizes of one picture: at most four.
struct VariantIndex {
    struct Member {
        let variant: ImageVariant
        let key: CacheKey
    }

    static let most = 4
    /// By group, the oldest first.
    private var groups: [CacheKey: [Member]] = [:]

    var count: Int { groups.values.reduce(0) { $0 + $1.count } }

    func members(of group: CacheKey) -> [Member] { groups[group] ?? [] }

    /// The key of the entry that must be evicted before one more is added.
    func surplus(for variant: ImageVariant) -> CacheKey? {
        guard let members = groups[variant.group], members.count >= Self.most else { return nil }
        return members.first?.key
    }

    mutating func insert(_ variant: ImageVariant, _ key: CacheKey) {
        groups[variant.group, default: []].append(Member(variant: variant, key: key))
    }

    mutating func remove(_ variant: ImageVariant, _ key: CacheKey) {
        groups[variant.group]?.removeAll { $0.key == key }
        if groups[variant.group]?.isEmpty == true { groups[variant.group] = nil }
    }
}
