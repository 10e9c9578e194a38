import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// libFuzzer's driver, which its own main function calls.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The function that libFuzzer calls takes no context, so that the target must be a global.
private let target: FuzzTarget? = CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init)

/// `webimage-fuzz --list`, `webimage-fuzz TARGET --seeds DIR`, or `webimage-fuzz TARGET [libFuzzer's arguments]`.
@main private enum FuzzMain {
    static func main() {
        let arguments = CommandLine.arguments
        guard let target else {
            for name in FuzzTarget.names { print(name) }
            exit(arguments.dropFirst().first == "--list" ? 0 : 2)
        }
        if arguments.count == 4, arguments[2] == "--seeds" {
            print("\(target.writeSeeds(to: arguments[3])) seeds")
            return
        }
        fuzz()
    }

    private static func fuzz() {
        // The target's name is removed from the arguments; those for libFuzzer stay.
        var count = CommandLine.argc - 1
        var rest = CommandLine.unsafeArgv + 1
        rest[0] = CommandLine.unsafeArgv[0]
        let code = runDriver(&count, &rest) { bytes, count in
            target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
        exit(code)
    }
}
