#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// nginx on loopback with TLS and HTTP/2, and certificates of its own small authority. Tests that need it are skipped
/// if nginx or openssl is not installed.
package final class NginxServer: Sendable {
    package static let isAvailable = PeerProcess.find("nginx") != nil && PeerProcess.find("openssl") != nil

    private let folder: ScratchFolder
    package let plainPort: Int
    package let securePort: Int
    /// The port that requires a certificate of the client.
    package let mutualPort: Int
    /// The port with an expired certificate.
    package let expiredPort: Int
    /// The port with a self-signed certificate.
    package let selfSignedPort: Int
    /// The port with HTTP/2 that sends GOAWAY after every third request.
    package let briefPort: Int

    package convenience init() throws {
        do {
            try self.init(onFreePorts: ())
        } catch {
            // Another process may have taken one of the ports meanwhile.
            try self.init(onFreePorts: ())
        }
    }

    private init(onFreePorts: Void) throws {
        folder = try ScratchFolder()
        plainPort = try OriginServer.closedPort()
        securePort = try OriginServer.closedPort()
        mutualPort = try OriginServer.closedPort()
        expiredPort = try OriginServer.closedPort()
        selfSignedPort = try OriginServer.closedPort()
        briefPort = try OriginServer.closedPort()
        let path = folder.path
        try Self.makeCertificates(in: path)
        folder.write("body", String(decoding: [UInt8](repeating: 65, count: 10_240), as: UTF8.self))
        folder.write("nginx.conf", settings)
        // nginx moves to the background once its ports are open.
        let program = PeerProcess.find("nginx") ?? "nginx"
        try PeerProcess.run([program, "-p", path, "-c", "\(path)/nginx.conf"], log: "\(path)/log")
    }

    deinit {
        let number = String(decoding: contents("pid"), as: UTF8.self)
        if let process = pid_t(number.filter(\.isNumber)) { kill(process, SIGKILL) }
    }

    package var authority: [UInt8] { contents("ca.pem") }

    package func contents(_ name: String) -> [UInt8] { folder.contents(name) }

    package func secure(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(securePort)\(path)" }

    package var openssl: String { PeerProcess.find("openssl") ?? "openssl" }

    package func path(of name: String) -> String { "\(folder.path)/\(name)" }

    private var settings: String {
        let path = folder.path
        return """
            daemon on; master_process off; worker_processes 1; pid \(path)/pid; error_log \(path)/error.log;
            events { worker_connections 1024; }
            http {
              access_log off; keepalive_requests 1000000; http2_max_requests 1000000; default_type image/png;
              client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
              uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
              ssl_certificate \(path)/server.pem; ssl_certificate_key \(path)/server.key;
              server { listen 127.0.0.1:\(plainPort); root \(path); }
              server { listen 127.0.0.1:\(securePort) ssl http2; root \(path); }
              server { listen 127.0.0.1:\(mutualPort) ssl; root \(path); ssl_client_certificate \(path)/ca.pem;
                       ssl_verify_client on; }
              server { listen 127.0.0.1:\(expiredPort) ssl; root \(path);
                       ssl_certificate \(path)/expired.pem; ssl_certificate_key \(path)/server.key; }
              server { listen 127.0.0.1:\(selfSignedPort) ssl; root \(path);
                       ssl_certificate \(path)/self.pem; ssl_certificate_key \(path)/self.key; }
              server { listen 127.0.0.1:\(briefPort) ssl http2; root \(path); keepalive_requests 3; }
            }

            """
    }

    private static func makeCertificates(in path: String) throws {
        let script = """
            set -e; cd '\(path)'
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=TestAuthority
            for name in server client; do
              openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
              printf 'subjectAltName=IP:127.0.0.1' > $name.ext
              openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $name.pem -days 30 -extfile $name.ext
            done
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout self.key -out self.pem \\
              -days 30 -subj /CN=self -addext subjectAltName=IP:127.0.0.1
            : > index; printf 01 > serial
            printf '[ca]\\ndefault_ca=a\\n[a]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\npolicy=p\\n[p]\\n' > ca.conf
            openssl ca -batch -config ca.conf -in server.csr -cert ca.pem -keyfile ca.key -out expired.pem -md sha256 \\
              -startdate 20200101000000Z -enddate 20200201000000Z -extfile server.ext -notext
            openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der \\
              | openssl dgst -sha256 -binary | openssl base64 -A > pin
            """
        try PeerProcess.run(["/bin/sh", "-c", script], log: "\(path)/openssl.log")
    }
}
