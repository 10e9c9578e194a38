extension Duration {
    /// In seconds, rounded up: what is kept on disk counts in whole ones, and less than one is not nothing.
    var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return attoseconds > 0 && seconds < .max ? seconds + 1 : seconds
    }
}
