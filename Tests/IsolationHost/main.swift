import HostileCoder
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// A program with isolated decoders, which tests run in various environments (the first argument). It exits with 0 if
// all checks pass, otherwise with the number of the first check that failed.

HostileCoder.register()
let arguments = CommandLine.arguments
let mode = arguments.count > 1 ? arguments[1] : ""
var isolation = DecoderIsolation.all
if arguments.count > 2 { isolation.program = arguments[2] }

func check(_ isTrue: Bool, _ number: Int32) {
    if !isTrue { exit(number) }
}

/// Decodes a picture in a worker process.
func decode(_ coder: any ImageCoder, _ bytes: [UInt8], _ pool: DecoderPool) -> (PixelBuffer?, WebImageError?) {
    let sink = PixelBufferSink()
    do throws(WebImageError) {
        let decoder = try pool.isolating(coder).makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        let pushed = bytes.withUnsafeBytes { bytes in Result { () throws(WebImageError) in try decoder.push(bytes) } }
        _ = try pushed.get()
        try decoder.finish()
        return (sink.buffer, nil)
    } catch {
        return (nil, error)
    }
}

let picture = try Image(size: PixelSize(width: 20, height: 20)) { $0[0] = 9 }
let coder = try CoderRegistry.standard.encoder(for: .webp)
let bytes = try coder.encode(picture, as: .webp, EncodeOptions(isLossless: true))

func expectPicture(_ pool: DecoderPool, _ number: Int32) {
    let (pixels, error) = decode(coder, bytes, pool)
    check(error == nil && pixels?.size == picture.size, number)
}

/// Fills 500 MB of memory, whose page tables a fork would have to copy.
func growLarge() {
    let count = 500 << 20
    guard let memory = malloc(count) else { exit(9) }
    memset(memory, 1, count)
}

// A descriptor without the close-on-exec flag, which started programs inherit unless it is closed. The program that runs this one
// may have left one of the same number.
check(dup2(2, 77) == 77, 10)
switch mode {
case "closed":
    for file: Int32 in 0...2 { close(file) }
case "sigchld":
    signal(SIGCHLD, SIG_IGN)
case "large":
    growLarge()
case "nobody":
    check(setgid(65_534) == 0 && setuid(65_534) == 0, 8)
default: break
}

let pool = DecoderPool(isolation)
expectPicture(pool, 1)
check(pool.report.state == .full, 2)
if mode == "hold" {
    // Prints the numbers of its workers' processes and pauses until it is killed.
    print(pool.processNumbers.map { "\($0)" }.joined(separator: " "))
    fflush(nil)
    while true { pause() }
}
let (_, error) = decode(HostileCoder(), Array(Attack.crash.rawValue.utf8), pool)
check(error?.code == .decoderCrashed, 3)
expectPicture(pool, 4)
// The worker had decoded a picture before, so the one that crashed it was tried once more in a fresh worker.
check(pool.report.crashed == 2, 5)
pool.shutDown()
let end = ContinuousClock.now + .seconds(20)
while pool.report.running > 0, ContinuousClock.now < end { sched_yield() }
check(pool.report.running == 0, 6)
exit(0)
