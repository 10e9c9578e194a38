extension Duration {
    /// The shortest delay that is shown as it is stored: browsers and SDWebImage show frames with a shorter one for a
    /// tenth of a second.
    static let shortestShown = Duration.milliseconds(11)
}
