public import WebImageCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WebImageError: LocalizedError {
    /// The same as `description`, so that a program that only has an `any Error` can show it.
    public var errorDescription: String? { description }

    /// The same as `description`, also where Foundation is not imported.
    public var localizedDescription: String { description }
}
