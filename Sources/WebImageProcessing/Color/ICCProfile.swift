import CSysLCMS2

/// Questions to a colour profile.
public enum ICCProfile {
    /// What a profile calls itself (ICC.1, `profileDescriptionTag`); nil for bytes that are no profile, or that say
    /// nothing.
    public static func name(of profile: [UInt8]) -> String? {
        guard descriptionsFit(profile) else { return nil }
        guard let length = UInt32(exactly: profile.count), let context = cmsCreateContext(nil, nil) else { return nil }
        defer { cmsDeleteContext(context) }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        guard let handle = cmsOpenProfileFromMemTHR(context, profile, length) else { return nil }
        defer { cmsCloseProfile(handle) }
        var text = [CChar](repeating: 0, count: 256)
        let size = cmsGetProfileInfoASCII(handle, cmsInfoDescription, "en", "US", &text, UInt32(text.count))
        guard size > 0 else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty ? nil : name
    }

    /// Whether the descriptions have room for as many texts as they say: lcms2 takes memory for that many, up to half a
    /// gigabyte, before it looks (`multiLocalizedUnicodeType`, ICC.1:2010, 10.13).
    static func descriptionsFit(_ profile: [UInt8]) -> Bool {
        func number(_ place: Int) -> Int { profile[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard profile.count >= 132 else { return false }
        for tag in 0..<min(number(128), 100) {
            let entry = 132 + tag * 12
            guard entry + 12 <= profile.count else { return false }
            let (start, length) = (number(entry + 4), number(entry + 8))
            guard start + 16 <= profile.count, profile[start..<start + 4].elementsEqual("mluc".utf8) else { continue }
            guard number(start + 8) <= max(length - 16, 0) / 12 else { return false }
        }
        return true
    }
}
