/// The layers of a cache, memory and disk: where to look, where to store, and where a picture was found.
public struct CacheLayers: OptionSet, Hashable, Sendable, Codable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let disk = CacheLayers(rawValue: 1)
    public static let memory = CacheLayers(rawValue: 2)
    public static let all: CacheLayers = [.disk, .memory]
}
