package import WebImageCore
import WebImageSystem

/// Pictures in a folder that are drawn for screens of several scales: `icon.png`, `icon@2x.png`, `icon@3x.png`
/// (SDWebImage's `SDImageAssetManager`). A value; any thread may use it.
///
/// It finds files and caches nothing: pass the path to ``ImageRequest/init(path:size:)``, and the manager's memory
/// cache keeps the picture. ``/WebImageCore/ScaleSuffix`` gives the scale of the found file.
public struct ScaledResources: Sendable {
    /// For names without an extension, in the order in which they are tried.
    private static let endings = ["png", "jpg", "jpeg", "gif", "webp", "apng", "avif", "heic", "jxl", "svg"]

    /// The folder.
    public let path: String
    private let files: any FileSystem

    public init(path: String) { self.init(path: path, files: PosixFileSystem()) }

    package init(path: String, files: any FileSystem) {
        self.path = path
        self.files = files
    }

    /// Finds the file that fits a screen of `scale` pixels a point best: one for that scale, otherwise for the next
    /// larger one, otherwise for the next smaller one.
    ///
    /// Blocks while it accesses the file system, a few times for each extension that it tries.
    ///
    /// - Parameters:
    ///   - name: a name such as `icon.png`, or one without an extension. It may contain subfolders.
    ///   - scale: 1, 2 or 3; other values count as the nearest of these.
    /// - Returns: the path; nil if there is no such file, or if the name leads out of the folder.
    public func file(named name: String, scale: Int = 1) -> String? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
        let dot = last.lastIndex(of: ".").flatMap { $0 > last.startIndex ? $0 : nil }
        let stem = name.dropLast(dot.map { last[$0...].count } ?? 0)
        let endings = dot.map { [String(last[$0...])] } ?? Self.endings.map { ".\($0)" }
        for ending in endings {
            for suffix in Self.suffixes(for: scale) {
                let file = "\(path)/\(stem)\(suffix)\(ending)"
                if (try? files.status(at: file))?.isRegularFile == true { return file }
            }
        }
        return nil
    }

    private static func suffixes(for scale: Int) -> [String] {
        let order =
            switch scale {
            case ...1: [1, 2, 3]
            case 2: [2, 3, 1]
            default: [3, 2, 1]
            }
        return order.map { $0 == 1 ? "" : "@\($0)x" }
    }
}
