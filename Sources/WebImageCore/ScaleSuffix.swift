/// The scale in a file's name: `"icon@2x.png"` has two pixels for each point (SDWebImage's `SDImageScaleFactorForKey`).
public enum ScaleSuffix {
    /// 2 or 3 for keys with `@2x.` or `@3x.`, in URLs also as `%402x.`; otherwise 1, also for keys of less than 8
    /// bytes.
    public static func scale(ofKey key: String) -> Int {
        guard key.utf8.count >= 8 else { return 1 }
        let isURL = key.hasPrefix("http://") || key.hasPrefix("https://")
        return [2, 3].first { scale in has("@\(scale)x.", key) || isURL && has("%40\(scale)x.", key) } ?? 1
    }

    private static func has(_ part: String, _ key: String) -> Bool {
        let (bytes, part) = (Array(key.utf8), Array(part.utf8))
        return bytes.count >= part.count
            && (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }
}
