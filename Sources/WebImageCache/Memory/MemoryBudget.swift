public import WebImageCore

/// How much memory this process may use, and how much of it a cache should take.
public struct MemoryBudget: Hashable, Sendable {
    /// The smallest of the machine's memory and the limits of the control groups that the process belongs to.
    public var available: ByteCount

    public init(available: ByteCount) { self.available = available }

    /// The budget that the kernel reports for this process, read once; 1 GiB if it reports nothing.
    public static let ofThisProcess = SystemMemory.budget

    /// How much a memory cache should take: a fifth of ``available``, at most 512 MiB.
    public var cacheCost: ByteCount { min(ByteCount(available.bytes / 5), .mebibytes(512)) }
}
