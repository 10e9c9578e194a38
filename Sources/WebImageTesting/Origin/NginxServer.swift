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

    package init() throws {
        folder = try ScratchFolder()
        plainPort = try OriginServer.closedPort()
        securePort = try OriginServer.closedPort()
        mutualPort = try OriginServer.closedPort()
        let path = folder.path
        try Self.makeCertificates(in: path)
        folder.write("body", String(decoding: [UInt8](repeating: 65, count: 10_240), as: UTF8.self))
        folder.write("nginx.conf", Self.settings(path, plainPort, securePort, mutualPort))
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

    private static func settings(_ path: String, _ plain: Int, _ secure: Int, _ mutual: Int) -> String {
        """
        daemon on; master_process off; worker_processes 1; pid \(path)/pid; error_log \(path)/error.log;
        events { worker_connections 1024; }
        http {
          access_log off; keepalive_requests 1000000; http2_max_requests 1000000; default_type image/png;
          client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
          uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
          ssl_certificate \(path)/server.pem; ssl_certificate_key \(path)/server.key;
          server { listen 127.0.0.1:\(plain); root \(path); }
          server { listen 127.0.0.1:\(secure) ssl http2; root \(path); }
          server { listen 127.0.0.1:\(mutual) ssl; root \(path); ssl_client_certificate \(path)/ca.pem;
                   ssl_verify_client on; }
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
