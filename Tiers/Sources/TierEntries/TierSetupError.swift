/// A tier cannot be made as it is configured.
public struct TierSetupError: Error, Hashable, CustomStringConvertible {
    /// Why, for a person; without secrets.
    public let description: String

    public init(_ description: String) { self.description = description }
}
