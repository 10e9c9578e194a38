/// The configuration of a tier is not valid.
public struct TierSetupError: Error, Hashable, CustomStringConvertible {
    /// The reason, as a sentence without secrets.
    public let description: String

    public init(_ description: String) { self.description = description }
}
