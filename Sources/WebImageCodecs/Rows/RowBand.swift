/// How many rows most decoders pass on at a time: enough to make the cost of calls negligible, and few enough to be
/// still in the processor's cache when they are scaled.
enum RowBand {
    static let rows = 16
}
