extension Duration {
    /// The duration in seconds, rounded up: dates on disk have whole seconds, and a short duration must not become
    /// zero.
    var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return attoseconds > 0 && seconds < .max ? seconds + 1 : seconds
    }
}
