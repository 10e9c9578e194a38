public import WebImageCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WebImageError: LocalizedError {
    /// What `description` says, so that a program that knows an `any Error` only shows it as well.
    public var errorDescription: String? { description }

    /// The same as `description`, also where Foundation is not imported.
    public var localizedDescription: String { description }
}
