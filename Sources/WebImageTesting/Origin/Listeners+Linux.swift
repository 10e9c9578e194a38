#if os(Linux) && !WI_PORTABLE
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// The ports of this machine with a listener, from the kernel's table. A trial connection could be the only one
    /// that a program accepts.
    enum Listeners {
        static func isOne(on port: Int) -> Bool {
            guard let table = fopen("/proc/net/tcp", "re") else { return false }
            defer { fclose(table) }
            var line = [CChar](repeating: 0, count: 256)
            let digits = String(port, radix: 16, uppercase: true)
            let wanted = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits + " 00000000:0000 0A"
            while fgets(&line, Int32(line.count), table) != nil {
                if String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).contains(
                    wanted)
                {
                    return true
                }
            }
            return false
        }
    }
#endif
