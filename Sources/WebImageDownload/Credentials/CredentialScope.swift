import WebImageCore
import CSysCrypto
import WebImageSystem

/// The user of a request, as a text without names, because keys are written to disk. An answer that was loaded with a
/// password, cookies or a certificate is not for everybody.
enum CredentialScope {
    /// Describes the user of a request; nil if the request does not identify one.
    ///
    /// A `.netrc` counts by its path; it is read when the request is made.
    static func of(_ options: MostlyDefaultBox<DownloadOptions>?, _ credentials: BasicCredentials?) -> String? {
        var parts: [String] = []
        if let credentials {
            parts.append("user:" + digest(credentials.user.utf8))
        } else if let provider = options?.value.credentialProvider {
            parts.append(of(provider))
        } else if let file = options?.value.netrcFile {
            parts.append("netrc:" + digest(file.utf8))
        }
        if options?.value.handlesCookies == true { parts.append("cookies") }
        if let certificate = options?.value.tls?.clientCertificate { parts.append(of(certificate)) }
        // An answer from an unverified server is only for requests that accept unverified servers.
        if options?.value.statedTrust == .anyone { parts.append("unverified") }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    static func of(_ provider: CredentialProvider) -> String { "provider:" + digest(provider.name.utf8) }

    static func of(_ certificate: TLSPolicy.ClientCertificate) -> String {
        "certificate:" + digest(certificate.certificate)
    }

    /// The first 32 hexadecimal digits of SHA-256.
    static func digest(_ bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        var sum = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = SHA256(bytes, bytes.count, &sum)
        return hexadecimal(sum.prefix(16))
    }
}
