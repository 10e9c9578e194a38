public import WebImageCore

/// How much memory this process may use, and how much of it a cache should take.
public struct MemoryBudget: Hashable, Sendable {
    /// The least of the machine's memory and the limits of the control groups that the process is in.
    public var available: ByteCount

    public init(available: ByteCount) { self.available = available }

    /// What the kernel says of this process, read once; 1 GiB where it says nothing.
    public static let ofThisProcess = SystemMemory.budget

    /// A fifth of what is available, at most 512 MiB.
    public var cacheCost: ByteCount { min(ByteCount(available.bytes / 5), .mebibytes(512)) }
}
