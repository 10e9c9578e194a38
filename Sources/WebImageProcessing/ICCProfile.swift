import CSysLCMS2

/// Questions to a colour profile.
public enum ICCProfile {
    /// What a profile calls itself (ICC.1, `profileDescriptionTag`); nil for bytes that are no profile, or that say
    /// nothing.
    public static func name(of profile: [UInt8]) -> String? {
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
}
