internal import CSysCrypto
public import WebImageCore
import WebImageSystem

/// A further place where a disk cache looks for entries that it does not have. Nothing is written there.
public struct DiskSource: Sendable {
    enum Kind {
        case cache(CacheLayout)
        case files(@Sendable (CacheKey) -> [String])
    }

    let kind: Kind

    /// Another disk cache of this library, such as one that came with a program.
    public static func cache(directory: String, namespace: String = "default") -> DiskSource {
        DiskSource(kind: .cache(CacheLayout(directory: directory, namespace: namespace)))
    }

    /// Plain picture files. The closure returns the path for a key, or nil if there is none. It is called on the
    /// executor; a file that does not exist is not an error.
    public static func files(_ path: @escaping @Sendable (CacheKey) -> String?) -> DiskSource {
        DiskSource(kind: .files { key in path(key).map { [$0] } ?? [] })
    }

    /// A folder that SDWebImage wrote, version 4 or 5: `<caches>/com.hackemist.SDImageCache/<namespace>`.
    public static func sdWebImage(directory: String) -> DiskSource {
        DiskSource(kind: .files { key in SDWebImageNaming.paths(in: directory, for: key.text) })
    }
}

/// A picture in a folder that SDWebImage wrote.
package struct SDWebImagePicture: Sendable {
    /// The key under which this library stores it.
    package var key: CacheKey
    /// SDWebImage's own key: for a URL the text as the program wrote it, with fragment, user and upper-case letters.
    package var name: String

    package init(key: CacheKey, name: String) { (self.key, self.name) = (key, name) }
}

/// SDWebImage's names for cached files (section 2.1 of its disk cache): the MD5 of the key, and the extension that the
/// key has as a URL.
package enum SDWebImageNaming {
    /// 255 bytes for a name, less 32 digits and a dot.
    private static let maxExtensionBytes = 222

    /// Where the file of a key is. Files from before version 3.7 have no extension.
    static func paths(in directory: String, for key: String) -> [String] {
        let name = fileName(for: key)
        let plain = String(name.prefix(32))
        return (name == plain ? [name] : [name, plain]).map { directory + "/" + $0 }
    }

    package static func fileName(for key: String) -> String {
        let digest = md5(key)
        let text = fileExtension(of: key)
        return text.isEmpty || text.utf16.count > maxExtensionBytes ? digest : digest + "." + text
    }

    static func fileExtension(of key: String) -> String {
        var path = key[...]
        if isURL(key) {
            if let end = path.firstIndex(where: { $0 == "?" || $0 == "#" }) { path = path[..<end] }
            if let address = path.after("://") {
                // The host is not a part of the path.
                guard let slash = address.firstIndex(of: "/") else { return "" }
                path = address[slash...]
            }
        }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let name = path.split(separator: "/", omittingEmptySubsequences: true).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        let text = name[name.index(after: dot)...]
        guard !text.contains(" ") else { return "" }
        return String(text.filter { $0 != ":" && $0 != "\u{0}" })
    }

    /// Whether `NSURL(string:)` accepts the text, as far as this matters for extensions.
    private static func isURL(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }
    }

    private static func md5(_ text: String) -> String {
        var text = text
        var digest = [UInt8](repeating: 0, count: 16)
        text.withUTF8 { bytes in _ = MD5(bytes.baseAddress, bytes.count, &digest) }
        return hexadecimal(digest)
    }
}

extension Substring {
    /// The text that follows the first occurrence of `text`.
    fileprivate func after(_ text: String) -> Substring? {
        var rest = self
        while !rest.isEmpty {
            if rest.hasPrefix(text) { return rest.dropFirst(text.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
