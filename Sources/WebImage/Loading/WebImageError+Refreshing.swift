package import WebImageCore

extension WebImageError {
    /// Whether a cached picture may be used although loading a newer one failed. It may not if the load was cancelled,
    /// or the origin answered with a status below 500, for example that the picture is gone.
    package var leavesCachedPicture: Bool { code != .cancelled && status.map { $0 >= 500 } ?? true }
}
