import Glibc

/// nginx on loopback with TLS and HTTP/2, and certificates of a small authority of its own. Nil where nginx or openssl is
/// not installed: tests that need it then say that they were skipped.
package final class NginxServer: Sendable {
    package static let isAvailable = find("nginx") != nil && find("openssl") != nil

    private let folder: ScratchFolder
    package let plainPort: Int
    package let securePort: Int
    /// Asks for a certificate of the client's.
    package let mutualPort: Int
    /// Shows a certificate whose time is over.
    package let expiredPort: Int
    /// Shows a certificate that nobody but itself vouches for.
    package let selfSignedPort: Int
    /// HTTP/2 that says GOAWAY after every third request.
    package let briefPort: Int

    package convenience init() throws {
        do {
            try self.init(onFreePorts: ())
        } catch {
            // Somebody else may have taken one of the ports meanwhile.
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
        // It goes into the background once its ports are open.
        try Self.run([Self.find("nginx") ?? "nginx", "-p", path, "-c", "\(path)/nginx.conf"], log: "\(path)/log")
    }

    deinit {
        let number = String(decoding: contents("pid"), as: UTF8.self)
        if let process = pid_t(number.filter(\.isNumber)) { kill(process, SIGKILL) }
    }

    package var authority: [UInt8] { contents("ca.pem") }

    package func contents(_ name: String) -> [UInt8] {
        guard let file = fopen("\(folder.path)/\(name)", "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    package func secure(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(securePort)\(path)" }

    package var openssl: String { Self.find("openssl") ?? "openssl" }

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
        try run(["/bin/sh", "-c", script], log: "\(path)/openssl.log")
    }

    /// Runs a program to its end.
    private static func run(_ words: [String], log: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        let result = posix_spawn(&process, words[0], &actions, nil, arguments, environ)
        if result != 0 { throw FailedToStart(command: words[0], error: result) }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if status != 0 { throw FailedToStart(command: words[0], error: status) }
    }

    private struct FailedToStart: Error {
        let command: String
        let error: Int32
    }

    private static func find(_ name: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"].map { $0 + name }.first {
            access($0, X_OK) == 0
        }
    }
}
