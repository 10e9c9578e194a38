/// The two layers of a cache: where to look, where to store, and where something was found (SDWebImage's rows C-17, C-18
/// and K-24, with its numbers).
public struct CacheLayers: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let disk = CacheLayers(rawValue: 1)
    public static let memory = CacheLayers(rawValue: 2)
    public static let all: CacheLayers = [.disk, .memory]
}
