/// How many rows most decoders hand over at a time: so many that the calls between them cost nothing, and so few that the
/// rows are still in the processor's cache when they are scaled.
enum RowBand {
    static let rows = 16
}
