import CHostile
import CShimSandbox
import Synchronization
package import WebImageCodecs
package import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Registers the hostile coder in the worker processes of programs that link this module, which are the tests.
@_cdecl("wi_hostile_decoders") func addHostileDecoders() { HostileCoder.register() }

/// A coder that behaves like an attacker who has taken over a decoder. The picture's bytes name the attack.
package struct HostileCoder: ImageCoder {
    package static let format = ImageFormat(rawValue: "hostile")

    package init() {}

    package static func register() { DecoderPool.addHostile(HostileCoder()) }

    package var decodableFormats: Set<ImageFormat> { [Self.format] }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder { HostileDecoder(plan) }

    package var encodableFormats: Set<ImageFormat> { [Self.format] }

    /// Makes the attack that the picture's XMP names. Without XMP, returns the number of the worker's process as the
    /// file.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard let name = image.info.metadata.xmp else { return Array("\(getpid())".utf8) }
        guard let attack = Attack(rawValue: String(decoding: name, as: UTF8.self)) else {
            throw WebImageError(.cannotEncode, "there is no such attack", format: format)
        }
        if attack.isOfTheProtocol { attack.speak() }
        throw WebImageError(.cannotEncode, "done: \(attack.run())", format: format)
    }
}

final class HostileDecoder: ImageDecoder {
    private let plan: DecodePlanner
    private(set) var header: ImageHeader?

    init(_ plan: @escaping DecodePlanner) { self.plan = plan }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        guard let attack = Attack(rawValue: String(decoding: bytes, as: UTF8.self)) else {
            throw WebImageError(.corruptData, "there is no such attack")
        }
        if attack.isOfTheProtocol {
            // The attack follows a valid header and plan, unless it attacks those.
            let header = ImageHeader(format: HostileCoder.format, size: PixelSize(width: 4, height: 4))
            if attack.beginsWell {
                self.header = header
                _ = try plan(header)
            }
            attack.speak()
            return .needsBytes
        }
        throw WebImageError(.corruptData, "done: \(attack.run())")
    }

    func finish() {}
}

/// The attacks. An attack's raw value is the picture that names it.
package enum Attack: String, CaseIterable, Sendable {
    // Attacks on the system. Those before `socket` get an error from the system; the others end the process.
    case readPasswords, readEnvironment, createFile, changeLimits, makeMemoryFile, removeFile, executableMemory,
        ownPriority, changeMode, truncateFile, signalsToParent
    case socket, fork, execute, kill, trace, readOthersMemory, ioUring, unshare, oldCalls, interrupt
    case tooMuchMemory, crash, abort, illegal, deepStack, exit, stop
    case spin, sleep
    // Attacks on the protocol between the worker and its manager.
    case garbage, unknownKind, otherSession, shortMessage, endlessMessage, halfMessage, flood, closeSocket, silence
    case wrongSize, wrongLayout, hugeSize, tooManyRows, rowsBehindTheEnd, negativeRows, rowsBeforeBegin, secondBegin
    case longProfile, manySizes, headerTwice, hugeLateSize, stateOfLies, errorOfTheManager

    /// What the manager then says; nil: various things.
    package var complaint: String? {
        switch self {
        case .hugeSize, .hugeLateSize: "its header is impossible"
        case .headerTwice: "it reports another header than before"
        default: nil
        }
    }

    package var isOfTheProtocol: Bool {
        Self.allCases.firstIndex(of: self) ?? 0 >= Self.allCases.firstIndex(of: .garbage) ?? 0
    }

    fileprivate var beginsWell: Bool {
        switch self {
        case .hugeSize, .longProfile, .manySizes, .rowsBeforeBegin: false
        default: true
        }
    }

    // MARK: Attacks on the system

    /// - Returns: the system's answer.
    fileprivate func run() -> String {
        #if canImport(Glibc)
            switch self {
            case .readPasswords: return name(open("/etc/passwd", O_RDONLY))
            case .readEnvironment: return name(open("/proc/self/environ", O_RDONLY))
            case .createFile: return name(open("/tmp/webimage-hostile", O_CREAT | O_WRONLY, 0o600))
            case .changeLimits:
                var limit = rlimit(rlim_cur: 1 << 40, rlim_max: 1 << 40)
                return name(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit))
            case .makeMemoryFile: return name(wi_try_memory_file())
            case .removeFile: return name(unlink("/tmp/webimage-hostile"))
            case .executableMemory:
                let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                return name(memory == MAP_FAILED ? -1 : 0)
            case .ownPriority: return name(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -5))
            case .changeMode: return name(chmod("/tmp/webimage-hostile", 0o777))
            case .truncateFile: return name(truncate("/tmp/webimage-hostile", 0))
            case .signalsToParent: return name(fcntl(3, 8 /* F_SETOWN */, getppid()))
            case .socket: return name(wi_try_socket())
            case .fork: return name(wi_try_fork())
            case .execute: return name(execv("/bin/true", [nil]))
            case .kill: return name(wi_try_kill(getppid()))
            case .trace: return name(wi_try_trace())
            case .readOthersMemory: return name(wi_try_reading_others(getppid()))
            case .ioUring: return name(wi_try_io_uring())
            case .unshare: return name(wi_try_unshare())
            case .oldCalls: return name(wi_try_old_calls())
            case .interrupt: return name(wi_try_interrupt())
            case .tooMuchMemory:
                var blocks = 0
                while let block = malloc(64 << 20) {
                    memset(block, 1, 64 << 20)
                    blocks += 1
                    if blocks > 400 { return "no limit" }
                }
                return "limited"
            case .crash: UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
            case .abort: wi_try_abort()
            case .illegal: fatalError("a trap")
            case .deepStack: return "\(deep(1))"
            case .exit: wi_try_exit()
            case .stop: return name(raise(SIGSTOP))
            case .spin:
                var number = 1
                while number != 0 { number = (number &* 7) | 1 }
            case .sleep: while true { wi_try_sleep() }
            default: break
            }
        #endif
        return "nothing"
    }

    private func deep(_ depth: Int) -> Int { depth == -1 ? 0 : deep(depth + 1) &+ depth }

    private func name(_ result: Int32) -> String { result >= 0 ? "allowed" : "errno \(errno)" }

    // MARK: Attacks on the protocol

    /// Sends messages that a worker must not send. Session 1 is the first picture of a worker.
    fileprivate func speak() {
        let begin: [UInt8] = words(4, 4) + [4, 0]
        switch self {
        case .garbage: send([255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3])
        case .unknownKind: send(head(99))
        case .otherSession: send(head(102, session: 77) + begin)
        case .shortMessage: send([1, 0])
        case .endlessMessage: while true { send(head(102, hasMore: true) + [UInt8](repeating: 0, count: 1 << 14)) }
        case .halfMessage:
            send(head(102, hasMore: true))
            wait()
        case .flood: while true { send(head(103) + begin) }
        case .closeSocket:
            close(3)
            wait()
        case .silence: wait()
        case .wrongSize: send(head(103) + words(5, 4) + [4, 0])
        case .wrongLayout: send(head(103) + words(4, 4) + [8, 0])
        case .hugeSize: send(head(102) + header(words(1 << 40, 1 << 40)))
        case .tooManyRows: send(head(103) + begin, head(104) + words(0, 5) + [0])
        case .rowsBehindTheEnd: send(head(103) + begin, head(104) + words(1 << 62, 1 << 62) + [0])
        case .negativeRows: send(head(103) + begin, head(104) + words(-1, 2) + [1])
        case .rowsBeforeBegin: send(head(104) + words(0, 1) + [0])
        case .secondBegin: send(head(103) + begin, head(103) + begin)
        case .longProfile: send(head(102) + header(words(4, 4), profile: Int.max))
        case .manySizes: send(head(102) + header(words(4, 4), sizes: Int.max / 16))
        case .headerTwice: send(head(102) + header(words(8, 8)))
        case .hugeLateSize: send(head(111) + header(words(Int.max, 4)))
        case .stateOfLies: send(head(108) + [7, 7, 7, 7])
        case .errorOfTheManager: send(head(110) + words(1) + words(2002 - 1) + words(1) + [65, 0])
        default: break
        }
        wait()
    }

    private func wait() { while true { _ = poll(nil, 0, -1) } }

    private func head(_ kind: UInt8, hasMore: Bool = false, session: UInt8 = 1) -> [UInt8] {
        [kind, hasMore ? 1 : 0, 0, 0, session, 0, 0, 0]
    }

    private func words(_ numbers: Int...) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
    }

    /// A header with the given size, profile and sizes, any of which may be wrong.
    private func header(_ size: [UInt8], profile: Int? = nil, sizes: Int = 0) -> [UInt8] {
        var bytes = words(7) + Array("hostile".utf8) + size
        // No size before a crop; orientation, no ignored one; no alpha, bit depth, colour model, no palette, not
        // progressive.
        bytes += [0, 1, 0, 0] + words(8) + words(3) + Array("rgb".utf8) + [0, 0]
        bytes += profile.map { [1] + words($0) } ?? [0]
        // No colour description and calibration, EXIF, XMP, IPTC, density, frames and loops; no vector.
        bytes += [0, 0, 0, 0, 0, 0, 0, 0, 0] + words(0) + words(0) + words(sizes)
        // Neither divided by frequencies nor kept as a whole; one tile.
        bytes += [0, 0] + words(1)
        return bytes
    }

    private func send(_ messages: [UInt8]...) {
        for message in messages {
            guard wi_message_send(3, message, message.count, -1) == 0 else { wi_worker_leave(0) }
        }
    }
}
