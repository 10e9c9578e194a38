import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files of trusted certificate authorities. libcurl caches the parsed store only if it comes from one file (a new
/// TLS connection costs 25 ms otherwise). Trust is therefore always a file: the system's bundle, or one in memory that
/// also holds the caller's certificates. Belongs to the transport's thread.
struct TrustFiles {
    /// Debian and its family, Fedora and RHEL, older RHEL, SUSE, Alpine and macOS, FreeBSD.
    private static let usualBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ]

    /// How many different sets of authorities there may be. Each keeps its file as long as the transport lives: libcurl
    /// identifies connections and parsed stores by the file's name, so a name must never refer to another set.
    static let most = 64

    /// The system's bundle; nil if it is in none of the usual places.
    let systemBundle: String?
    private var combined: [[UInt8]: MemoryFile] = [:]

    /// - Parameter bundle: a file to use as the system's. `SSL_CERT_FILE` comes next, as with OpenSSL's own programs.
    init(bundle: String? = nil) {
        let environment = getenv("SSL_CERT_FILE").map { String(cString: $0) }
        let candidates = [bundle, environment].compactMap { $0 } + Self.usualBundles
        systemBundle = candidates.first { access($0, R_OK) == 0 }
    }

    /// The name of a file with the system's authorities and `pem`.
    mutating func combinedBundle(with pem: [UInt8]) throws(WebImageError) -> String {
        if let file = combined[pem] { return file.name }
        guard combined.count < Self.most else {
            throw WebImageError(
                .tlsFailed, "one transport takes up to \(Self.most) different sets of certificates to trust")
        }
        var bytes = systemBundle.flatMap(Self.contents) ?? []
        bytes.append(UInt8(ascii: "\n"))
        bytes += pem
        do throws(FileFault) {
            let file = try MemoryFile(bytes)
            combined[pem] = file
            return file.name
        } catch {
            let reason = SystemErrorText.of(error.errorNumber)
            throw WebImageError(.tlsFailed, "there is no room for the certificates to trust (\(reason))")
        }
    }

    func closeAll() {
        for file in combined.values { file.remove() }
    }

    private static func contents(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = piece.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? all : nil }
            all += piece[..<count]
        }
    }
}
