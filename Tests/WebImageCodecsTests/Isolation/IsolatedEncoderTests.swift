import CShimSandbox
import HostileCoder
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Encoders in processes of their own. They write the same files; a crash or endless work ends only one picture; and
/// without a sandbox the encoder of this process is used.
@Suite(.enabled(if: Workers.areAvailable)) struct IsolatedEncoderTests {
    private static let isRegistered: Bool = {
        HostileCoder.register()
        return true
    }()

    private func hostile(_ pool: DecoderPool) throws -> IsolatedCoder {
        #expect(Self.isRegistered)
        return try #require(pool.isolating(HostileCoder()) as? IsolatedCoder)
    }

    private func picture(_ attack: Attack?) throws -> Image {
        let image = try Drawings.picture(20, 10)
        var info = image.info
        info.metadata = ImageMetadata(xmp: attack.map { Array($0.rawValue.utf8) })
        return Image(pixels: image.pixels, info: info)
    }

    /// Encodes a picture with which the encoder attacks, and returns the error.
    private func error(
        of attack: Attack, options: EncodeOptions = EncodeOptions(), in pool: DecoderPool
    ) throws -> WebImageError {
        let coder = try hostile(pool)
        let error = #expect(throws: WebImageError.self) {
            try coder.encode(try picture(attack), as: HostileCoder.format, options)
        }
        return try #require(error)
    }

    /// Encodes a harmless picture.
    ///
    /// - Returns: The number of the process that encoded it.
    private func encodeWell(_ pool: DecoderPool) throws -> Int32? {
        let file = try hostile(pool).encode(try picture(nil), as: HostileCoder.format, EncodeOptions())
        let number = Int32(String(decoding: file, as: UTF8.self))
        #expect(number.map { pool.processNumbers.contains($0) } == true, "not in this process")
        return number
    }

    @Test(
        .enabled(if: Workers.areConfined),
        arguments: [(Attack.crash, "SIGSEGV"), (.abort, "SIGABRT"), (.socket, "sandbox"), (.exit, "status 0")])
    func aCrashIsAnErrorOfThePicture(attack: Attack, word: String) throws {
        let pool = DecoderPool(.automatic)
        let error = try error(of: attack, in: pool)
        #expect(error.code == .cannotEncode && error.format == HostileCoder.format, "\(error)")
        #expect(error.message.contains(word) && error.message.contains("the encoder"), "\(error)")
        #expect((error.cause as? WebImageError)?.code == .decoderCrashed)
        _ = try encodeWell(pool)
        #expect(pool.report.crashed == 1)
        pool.shutDown()
    }

    @Test(arguments: [Attack.garbage, .unknownKind, .otherSession, .endlessMessage, .closeSocket])
    func afterAProtocolViolationTheNextEncodeWorks(attack: Attack) throws {
        let pool = DecoderPool(.automatic)
        let error = try error(of: attack, in: pool)
        #expect(error.code == .cannotEncode && (error.cause as? WebImageError)?.code == .decoderCrashed, "\(error)")
        _ = try encodeWell(pool)
        pool.shutDown()
    }

    /// The libraries cannot be interrupted, but their process can be ended.
    @Test(arguments: [Attack.spin, .sleep, .silence]) func aCancelledEncodeEndsItsProcess(attack: Attack) throws {
        let pool = DecoderPool(.automatic)
        var options = EncodeOptions()
        options.context.checkpoint = { () throws(WebImageError) in
            // The encoder must have a process first.
            if pool.report.running == 1, !pool.processNumbers.isEmpty { throw .cancelled }
        }
        #expect(try error(of: attack, options: options, in: pool).code == .cancelled)
        #expect(pool.report.ended == 1 && pool.report.crashed == 0 && pool.report.running == 0)
        _ = try encodeWell(pool)
        pool.shutDown()
    }

    /// The error was once `cannotEncode` and counted as a crash, although only the shutdown of the pool had ended the
    /// process.
    @Test(arguments: [Attack.spin, .sleep, .silence]) func anEncodeEndedByShutdownFailsWithShutDown(attack: Attack)
        throws
    {
        let pool = DecoderPool(.automatic)
        var options = EncodeOptions()
        options.context.checkpoint = {
            // The encoder must have a process first.
            if pool.report.running == 1, !pool.processNumbers.isEmpty { pool.shutDown() }
        }
        #expect(try error(of: attack, options: options, in: pool).code == .shutDown)
        #expect(pool.report.ended == 1 && pool.report.crashed == 0 && pool.report.running == 0)
    }

    /// A process that died while it was idle does not fail the next picture.
    @Test func aProcessThatServedOthersIsReplaced() throws {
        let pool = DecoderPool(.automatic)
        let first = try #require(try encodeWell(pool))
        kill(first, SIGKILL)
        let second = try #require(try encodeWell(pool))
        #expect(first != second && pool.report.crashed == 1)
        pool.shutDown()
    }

    /// An error that an encoder reports does not end its process.
    @Test func anErrorKeepsTheProcess() throws {
        let pool = DecoderPool(.automatic)
        let first = try encodeWell(pool)
        #expect(try error(of: .readPasswords, in: pool).message.hasPrefix("done: "))
        #expect(try encodeWell(pool) == first && pool.report.started == 1)
        pool.shutDown()
    }

    @Test func withoutASandboxPicturesAreEncodedInThisProcess() throws {
        let pool = DecoderPool(.automatic, hiddenOptions: WI_WORKER_WITHOUT_SECCOMP)
        for _ in 0..<2 {
            let file = try hostile(pool).encode(try picture(nil), as: HostileCoder.format, EncodeOptions())
            #expect(String(decoding: file, as: UTF8.self) == "\(getpid())")
        }
        #expect(pool.report.state == .unavailable && pool.report.running == 0)
        pool.shutDown()
    }

    // MARK: Files

    /// The pictures have different depths, alpha, profiles, metadata and orientations.
    @Test func stillsAreEncodedAsInThisProcess() throws {
        let pool = DecoderPool(.automatic)
        for coder in CoderRegistry.builtIn where WorkerKind(of: coder) == .photos {
            let isolated = try #require(pool.isolating(coder) as? IsolatedCoder)
            for format in coder.encodableFormats {
                for (image, options) in try Self.samples() {
                    let here = Result { () throws(WebImageError) in try coder.encode(image, as: format, options) }
                    let there = Result { () throws(WebImageError) in try isolated.encode(image, as: format, options) }
                    switch (here, there) {
                    case (.success(let one), .success(let other)):
                        let isSame = one == other
                        #expect(isSame, "\(format): \(one.count) and \(other.count) bytes, \(options)")
                    case (.failure(let one), .failure(let other)):
                        #expect(one.code == other.code && one.message == other.message, "\(format)")
                    default: Issue.record("\(format): \(here) and \(there)")
                    }
                }
            }
        }
        #expect(pool.report.started <= 1 && pool.report.crashed == 0)
        pool.shutDown()
    }

    private static func samples() throws -> [(Image, EncodeOptions)] {
        let deep = try Drawings.picture(61, 43, layout: .rgba16, alpha: .straight)
        let soft = try Drawings.picture(40, 30, alpha: .premultiplied)
        var info = try Drawings.picture(64, 48).info
        info.orientation = .right
        info.iccProfile = ProfileBytes.rgb(ProfileBytes.displayP3, ProfileBytes.sRGBCurve).bytes
        info.metadata = ImageMetadata(
            xmp: Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8),
            density: PixelDensity(horizontal: 300, vertical: 300))
        let rich = Image(pixels: try Drawings.picture(64, 48).pixels, info: info)
        var kept = EncodeOptions(quality: 91, keepsMetadata: true)
        kept.chroma = .yuv422
        kept.avifSpeed = 9
        kept.jxlEffort = 2
        kept.embedsThumbnail = true
        return [
            (deep, EncodeOptions()), (soft, EncodeOptions(quality: 30)), (soft, EncodeOptions(isLossless: true)),
            (rich, kept), (try Drawings.noise(700, 600), EncodeOptions(quality: 20)),
        ]
    }

    @Test func animationsAreEncodedAsInThisProcess() throws {
        let pool = DecoderPool(.automatic)
        let frames = try (0..<3).map { _ in try Drawings.noise(48, 32) }
        let animation = AnimationDescription(size: PixelSize(width: 48, height: 32), loopCount: 2)
        func file(_ coder: any ImageCoder, _ format: ImageFormat) throws -> [UInt8]? {
            guard let encoder = try coder.makeAnimationEncoder(format, animation, EncodeOptions(quality: 70)) else {
                return nil
            }
            for (index, frame) in frames.enumerated() { try encoder.add(frame, delay: .milliseconds(100 + index)) }
            return try encoder.finish()
        }
        for coder in CoderRegistry.builtIn where WorkerKind(of: coder) == .photos {
            let isolated = try #require(pool.isolating(coder) as? IsolatedCoder)
            for format in coder.encodableFormats {
                let isSame = try file(isolated, format) == file(coder, format)
                #expect(isSame, "\(format)")
            }
        }
        pool.shutDown()
    }

    /// An animation that is abandoned leaves its process to others, without any state of its own.
    @Test func anAnimationThatIsGivenUpFreesItsProcess() throws {
        let pool = DecoderPool(.automatic)
        let options = EncodeOptions()
        let opening = EncoderOpening(coder: HostileCoder().key, format: HostileCoder.format, options: options)
        func encoder() throws -> IsolatedEncoder {
            #expect(Self.isRegistered)
            return IsolatedEncoder(StillEncoder(HostileCoder(), HostileCoder.format, options), pool, opening)
        }
        try encoder().add(try picture(nil), delay: .zero)
        _ = try encodeWell(pool)
        #expect(pool.report.started == 1)
        // After its end and after an error, an encoder accepts no more frames.
        for attack in [nil, Attack.readPasswords] {
            let encoder = try encoder()
            try encoder.add(try picture(attack), delay: .zero)
            _ = try? encoder.finish()
            #expect(throws: WebImageError.self) { try encoder.add(try picture(nil), delay: .zero) }
            #expect(throws: WebImageError.self) { try encoder.finish() }
        }
        #expect(pool.report.started == 1 && pool.report.crashed == 0)
        pool.shutDown()
    }
}
