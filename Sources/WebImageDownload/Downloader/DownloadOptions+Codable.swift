import HTTPTypes
import WebImageSystem

/// Hooks, loaders and providers are closures and objects, and credentials are secrets. Options that hold any of them
/// throw `EncodingError`, so that nothing is silently lost or disclosed.
extension DownloadOptions: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(
            Self(),
            [
                .option("headers", \.headers), .option("bodyLimit", \.bodyLimit), .option("deadlines", \.deadlines),
                .option("retry", \.retry), .option("redirectLimit", \.redirectLimit),
                .option("acceptableStatuses", \.acceptableStatuses),
                .option("acceptableContentTypes", \.acceptableContentTypes),
                .option("finishesWhenDrained", \.finishesWhenDrained), .option("authentication", \.authentication),
                .option("netrcFile", \.netrcFile), .option("credentialScope", \.credentialScope),
                .option("handlesCookies", \.handlesCookies), .option("tls", \.tls),
                .option("trust", \.trust), .option("addressPolicy", \.addressPolicy),
            ], refusal: \.unwritable)
    }

    /// Why the value cannot be encoded; nil if it can.
    private var unwritable: String? {
        if credentials != nil { return "credentials are secret, and not written down" }
        if credentialProvider != nil { return "a credential provider cannot be written down" }
        if let name = DownloadConfiguration().secretHeaders.first(where: { headers[$0] != nil }) {
            return "the header \(name.rawName) is secret, and not written down"
        }
        if requestModifier != nil || responseModifier != nil || decryptor != nil {
            return "modifiers and decryptors cannot be written down"
        }
        return loader == nil ? nil : "a loader cannot be written down"
    }
}

/// A policy with a client certificate throws `EncodingError`: its key is secret.
extension TLSPolicy: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(Self(), [.option("trust", \.trust), .option("pinnedKeys", \.pinnedKeys)], refusal: \.unwritable)
    }

    /// Why the value cannot be encoded; nil if it can.
    private var unwritable: String? {
        clientCertificate == nil ? nil : "a client certificate is secret, and not written down"
    }
}

/// A policy with the caller's own rule throws `EncodingError`: the rule is a closure.
extension AddressPolicy: Codable {
    public init(from decoder: any Decoder) throws { self = try Self.form.read(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self, to: encoder) }

    private static var form: WrittenForm<Self> {
        WrittenForm(
            Self(),
            [
                .option("schemes", \.schemes), .option("allowedHosts", \.allowedHosts),
                .option("deniedHosts", \.deniedHosts), .option("allowedPorts", \.allowedPorts),
                .option("deniedPorts", \.deniedPorts), .option("allowedAddresses", \.allowedAddresses),
                .option("deniedAddresses", \.deniedAddresses),
            ], refusal: \.unwritable)
    }

    /// Why the value cannot be encoded; nil if it can.
    private var unwritable: String? {
        hasOwnRule ? "an address policy with a rule of its own cannot be written down" : nil
    }
}

/// A range is encoded as its text.
extension AddressRange: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let range = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no block of addresses")
        }
        self = range
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
