package import WebImageCore

/// A document of a few kilobytes that would take minutes or gigabytes to draw, or would crash a library that trusts it.
package struct CostlyDocument: Sendable, CustomStringConvertible {
    package let name: String
    package let format: ImageFormat
    package let bytes: [UInt8]

    package var description: String { name }

    /// All of them: `svg` and `pdf`.
    package static var all: [CostlyDocument] { svg + pdf }
}
