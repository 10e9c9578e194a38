public import WebImageCore
import WebImageSystem

/// Which decoders run in processes of their own, where what a hostile file does to them cannot reach this program: no file, no
/// network, no other memory than their own.
///
/// Such processes are started when they are needed, confined before they see a byte, used for many pictures and ended when
/// they are idle. They are this program's own executable, started anew and caught before `main`; nothing has to be
/// installed or called.
public struct DecoderIsolation: Hashable, Sendable {
    /// Which formats.
    public enum Formats: String, Hashable, Sendable, Codable, CaseIterable {
        /// All are decoded in this process.
        case none
        /// Those of large C libraries: WebP, TIFF, HEIF, AVIF, JPEG XL, SVG, PDF.
        case automatic
        /// All but the decoders that are written in Swift: GIF, BMP, QOI, PNM.
        case all
    }

    /// What happens where the system has no sandbox: outside of Linux, in old kernels, or in containers that forbid it.
    public enum WithoutSandbox: String, Hashable, Sendable, Codable, CaseIterable {
        /// Pictures of isolated formats fail with `decoderUnavailable`.
        case refuse
        /// They are decoded in this process, unprotected. ``IsolationReport`` says so.
        case decodeHere
    }

    public var formats: Formats
    public var withoutSandbox: WithoutSandbox
    /// What a decoding process may take in memory, beside its code. Default: half of the machine's, between 1 and 4 GiB.
    public var memory: ByteCount
    /// After so many pictures a process is replaced, which costs some tens of milliseconds of the processor: until then a decoder
    /// that was taken over may see and spoil the pictures that come behind it. 1: every picture has a process of its own.
    /// Default 1000.
    public var picturesPerProcess = 1000
    /// The path of the program `webimage-decoder`, which is started in place of this one's executable. For plug-ins, whose
    /// executable is somebody else's, and for programs that start threads before `main`. Default nil: this program, or where that
    /// cannot be, `webimage-decoder` beside it or in `../libexec/webimage`.
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

    public static let none = DecoderIsolation(.none)
    public static let automatic = DecoderIsolation(.automatic)
    public static let all = DecoderIsolation(.all)

    /// Half of the machine's memory, between 1 and 4 GiB.
    public static var defaultMemory: ByteCount {
        let half = (ProcessMemory.ofMachine?.bytes ?? 0) / 2
        return ByteCount(min(max(half, 1 << 30), 4 << 30))
    }
}

/// How decoders are isolated, as far as is known. Nothing is started to find out.
public struct IsolationReport: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable {
        /// No format is to be isolated.
        case off
        /// No picture of an isolated format has come yet.
        case unused
        /// Decoding processes are confined by seccomp and landlock.
        case full
        /// By seccomp alone, since the kernel has no landlock; drawings (SVG, PDF) need files and are refused.
        case withoutLandlock
        /// There is no sandbox. What happens then, ``DecoderIsolation/WithoutSandbox`` says.
        case unavailable
    }

    public var state: State
    /// Why there is no sandbox.
    public var reason: String?
    /// Decoding processes that run now.
    public var running = 0
    /// Decoding processes that were ever started.
    public var started = 0
    /// Those that crashed, did what is forbidden, or did not keep to the protocol.
    public var crashed = 0
    /// Those that were ended since their picture took too long or was not wanted any more.
    public var ended = 0

    init(_ state: State) { self.state = state }
}

/// What a worker is started with.
struct WorkerSettings: Sendable {
    var memory: ByteCount
    var program: String?
    /// For tests.
    var hiddenOptions = 0
}
