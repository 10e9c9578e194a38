/// The version of this package: what the command and the server print, and what downloads send as their user agent.
public enum WebImageVersion {
    /// `"1.2.3"`: major, minor and patch (Semantic Versioning).
    public static let text = "0.1.0"
}
