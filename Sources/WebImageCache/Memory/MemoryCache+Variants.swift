import Synchronization
package import WebImageCore
import WebImageSystem

extension MemoryCache {
    /// A picture of another size than the requested one, and how well it is suited.
    package struct VariantMatch: Sendable {
        package let image: Image
        package let key: CacheKey
        package let fitness: VariantFitness
    }

    /// The picture of a group that is best suited for a size; this counts as a use. Call it after ``image(for:)`` has
    /// found nothing under the exact key.
    ///
    /// - Parameters:
    ///   - fitness: the minimum.
    ///   - wanted: returns the requested size for the size of the whole picture; in display orientation.
    package func variant(
        in group: CacheKey, fit: ImageFit, atLeast fitness: VariantFitness = .covering,
        wanted: (_ originalSize: PixelSize) -> PixelSize
    ) -> VariantMatch? {
        let members = ledger.withLock { $0.variants.members(of: group) }
        let matches = members.compactMap { member -> (VariantIndex.Member, VariantFitness)? in
            let size = wanted(member.variant.originalSize)
            guard let match = VariantFitness(member.variant, wanted: size, fit: fit), match >= fitness else {
                return nil
            }
            return (member, match)
        }
        for (member, match) in matches.sorted(by: Self.isBetter) {
            // The picture may have been evicted meanwhile.
            if let image = image(for: member.key) {
                return VariantMatch(image: image, key: member.key, fitness: match)
            }
        }
        return nil
    }

    /// Of those that cover the size, the smallest is best; of the others, the largest.
    private static func isBetter(
        _ left: (member: VariantIndex.Member, fitness: VariantFitness),
        _ right: (member: VariantIndex.Member, fitness: VariantFitness)
    ) -> Bool {
        if left.fitness != right.fitness { return left.fitness > right.fitness }
        let (a, b) = (left.member.variant.size.pixelCount ?? .max, right.member.variant.size.pixelCount ?? .max)
        return left.fitness == .placeholder ? a > b : a < b
    }
}
