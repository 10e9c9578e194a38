public import WebImageCore
import WebImageSystem

/// Which decoders run in separate processes. If a hostile file takes over such a decoder, it cannot reach this program:
/// the process has access to no files, no network, and no memory but its own.
///
/// The processes are started when they are needed, confined before they read a byte, used for many pictures, and ended
/// when they are idle. They run this program's own executable, in which WebImage takes over before `main`; nothing has
/// to be installed or called.
///
/// The encoders of AVIF, HEIC and JPEG XL run in such processes too, unless ``formats`` is `none`: an encode that is
/// cancelled ends at once, and one that crashes fails with `cannotEncode`. Without a sandbox they run in this process.
public struct DecoderIsolation: Hashable, Sendable {
    /// The formats that are isolated.
    public enum Formats: String, Hashable, Sendable, Codable, CaseIterable {
        /// All are decoded in this process.
        case none
        /// The formats of large C libraries: WebP, TIFF, HEIF, AVIF, JPEG XL, SVG, PDF.
        case automatic
        /// All formats except those whose decoders are written in Swift: GIF, BMP, QOI, PNM.
        case all
    }

    /// What happens if the system has no sandbox: outside of Linux, with old kernels, or in containers that forbid it.
    public enum WithoutSandbox: String, Hashable, Sendable, Codable, CaseIterable {
        /// Pictures of isolated formats fail with `decoderUnavailable`.
        case refuse
        /// Pictures of isolated formats are decoded in this process, unprotected. ``IsolationReport`` says so.
        case decodeHere
    }

    /// The formats that are decoded in separate processes.
    public var formats: Formats
    /// What happens if the system has no sandbox. Default `refuse`.
    public var withoutSandbox: WithoutSandbox
    /// The maximum memory of a decoding process, beside its code. Default: half of the machine's memory, between 1 and
    /// 4 GiB.
    public var memory: ByteCount
    /// After how many pictures a process is replaced, which takes some tens of milliseconds of processor time. Until
    /// then a decoder that was taken over can see and spoil the pictures that follow. 1: every picture has a process of
    /// its own. Default 1000.
    public var picturesPerProcess = 1000
    /// The path of the program `webimage-decoder`, which is started in place of this one's executable. It is needed for
    /// plug-ins in an executable that is not theirs, and for programs that start threads before `main`. Default nil:
    /// this program, or if that is not possible, `webimage-decoder` beside it or in `../libexec/webimage`.
    public var program: String?

    public init(
        _ formats: Formats, withoutSandbox: WithoutSandbox = .refuse, memory: ByteCount = Self.defaultMemory,
        program: String? = nil
    ) {
        self.formats = formats
        self.withoutSandbox = withoutSandbox
        self.memory = memory
        self.program = program
    }

    /// Isolates no format.
    public static let none = DecoderIsolation(.none)
    /// Isolates the formats of large C libraries.
    public static let automatic = DecoderIsolation(.automatic)
    /// Isolates all formats except those whose decoders are written in Swift.
    public static let all = DecoderIsolation(.all)

    /// Half of the machine's memory, between 1 and 4 GiB.
    public static var defaultMemory: ByteCount {
        let half = (ProcessMemory.ofMachine?.bytes ?? 0) / 2
        return ByteCount(min(max(half, 1 << 30), 4 << 30))
    }
}

/// How decoders are isolated, as far as is known yet. No process is started to find out.
public struct IsolationReport: Hashable, Sendable, Codable {
    /// Whether decoders are isolated, and how well.
    public enum State: String, Hashable, Sendable, Codable {
        /// No format is isolated.
        case off
        /// No picture of an isolated format has been decoded yet.
        case unused
        /// Decoding processes are confined by seccomp and landlock.
        case full
        /// Decoding processes are confined by seccomp alone, since the kernel has no landlock. SVG and PDF need files
        /// and are refused.
        case withoutLandlock
        /// There is no sandbox. ``DecoderIsolation/WithoutSandbox`` decides what happens then.
        case unavailable
    }

    public var state: State
    /// Why there is no sandbox, or only a part of it.
    public var reason: String?
    /// The number of running decoding processes.
    public var running = 0
    /// The number of decoding processes that were started in all.
    public var started = 0
    /// The number of processes that crashed, did something forbidden, or violated the protocol.
    public var crashed = 0
    /// The number of processes that were ended because their picture took too long or was cancelled.
    public var ended = 0
    /// When processes are started again, after many starts have failed; nil if nothing keeps them from being started.
    /// Until then running ones are used, and pictures that need another one fail with `decoderUnavailable`.
    public var startsAgainIn: Duration?

    init(_ state: State) { self.state = state }
}

/// The settings that a worker is started with.
struct WorkerSettings: Sendable {
    var memory: ByteCount
    var program: String?
    /// For tests.
    var hiddenOptions = 0
}
