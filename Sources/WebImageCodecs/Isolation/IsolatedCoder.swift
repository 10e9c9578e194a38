import Synchronization
package import WebImageCore
import WebImageSystem

/// One of the built-in coders, with decoders in other processes, and those encoders that take long. Everything else
/// runs here.
package struct IsolatedCoder: ImageCoder {
    let coder: any ImageCoder
    let pool: DecoderPool

    package var key: String { coder.key }
    package var decodableFormats: Set<ImageFormat> { coder.decodableFormats }
    package var encodableFormats: Set<ImageFormat> { coder.encodableFormats }
    package var losslessFormats: Set<ImageFormat> { coder.losslessFormats }
    package var decodesInOneCall: Bool { coder.decodesInOneCall }
    package var needsWholeFile: Bool { coder.needsWholeFile }
    package var readsPages: Bool { coder.readsPages }

    package func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool {
        coder.canDecode(format, prefix: prefix)
    }

    package func scaleDenominators(for header: ImageHeader) -> [Int] { coder.scaleDenominators(for: header) }
    package func scalingMargin(for header: ImageHeader, denominator: Int) -> Double {
        coder.scalingMargin(for: header, denominator: denominator)
    }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        guard try isIsolated(options) else { return try coder.makeDecoder(options, plan: plan) }
        return IsolatedDecoder(coder, pool, options, plan: plan)
    }

    package func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        // Nothing is read yet: this only checks whether there is a decoder.
        guard let local = try coder.makeAnimationDecoder(format, options) else { return nil }
        guard try isIsolated(options) else { return local }
        return IsolatedAnimationDecoder(coder, pool, format, options)
    }

    /// False if there is no sandbox and the program allows decoding without one.
    private func isIsolated(_ options: DecodeOptions) throws(WebImageError) -> Bool {
        guard pool.isolation.withoutSandbox == .decodeHere else { return true }
        return try pool.hasSandbox(WorkerKind(of: coder), options.checkpoint)
    }

    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard pool.isolatesEncoders(of: coder) else { return try coder.encode(image, as: format, options) }
        let opening = EncoderOpening(coder: coder.key, format: format, options: options)
        func encode(_ encoder: IsolatedEncoder) throws(WebImageError) -> [UInt8] {
            try encoder.add(image, delay: .zero)
            return try encoder.finish()
        }
        let encoder = IsolatedEncoder(StillEncoder(coder, format, options), pool, opening)
        do throws(WebImageError) {
            return try encode(encoder)
        } catch {
            guard encoder.mayTryAnew else { throw error }
            return try encode(
                IsolatedEncoder(StillEncoder(coder, format, options), pool, opening, isFresh: true))
        }
    }

    package func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? {
        let here = try coder.makeAnimationEncoder(format, animation, options)
        guard let here, pool.isolatesEncoders(of: coder) else { return here }
        let opening = EncoderOpening(coder: coder.key, format: format, animation: animation, options: options)
        return IsolatedEncoder(here, pool, opening)
    }

    package func makePageEncoder(
        _ format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> (any PageEncoder)? { try coder.makePageEncoder(format, options) }
}

extension DecoderPool {
    /// The coder as the policy demands: only built-in decoders can run elsewhere.
    package func isolating(_ coder: any ImageCoder) -> any ImageCoder {
        if isIsolated(coder), Self.isBuiltIn(coder) { return IsolatedCoder(coder: coder, pool: self) }
        guard var jpeg = coder as? JPEGCoder, isolation.formats != .none else { return coder }
        // Its library is trusted, but the profiles in its files are not.
        jpeg.makeInkConverter = { [self] (profile) throws(WebImageError) in try inkConverter(for: profile) }
        return jpeg
    }

    private func isIsolated(_ coder: any ImageCoder) -> Bool {
        let formats = coder.decodableFormats
        switch isolation.formats {
        case .none: return false
        case .automatic: return formats.isDisjoint(with: Self.ownFormats.union([.jpeg, .png, .ico]))
        case .all: return formats.isDisjoint(with: Self.ownFormats)
        }
    }

    /// The formats whose decoders are written in Swift.
    private static let ownFormats: Set<ImageFormat> = [.gif, .bmp, .qoi, .pnm]

    /// For tests: a decoder that is not built in, in this process and in every worker.
    package static func addHostile(_ coder: any ImageCoder) {
        DecoderWorker.hostileCoders.withLock { $0.append(coder) }
    }

    private static func isBuiltIn(_ coder: any ImageCoder) -> Bool {
        isHostile(coder) || CoderRegistry.builtIn.contains { type(of: $0) == type(of: coder) }
    }

    private static func isHostile(_ coder: any ImageCoder) -> Bool {
        DecoderWorker.hostileCoders.withLock { $0.contains { type(of: $0) == type(of: coder) } }
    }

    /// Whether a coder's encoders run elsewhere: those of AVIF, HEIC and JPEG XL, which take long, cannot be
    /// interrupted, and are known to have crashed.
    func isolatesEncoders(of coder: any ImageCoder) -> Bool {
        WorkerKind(of: coder) == .photos || Self.isHostile(coder)
    }

    /// Whether a process of this kind, or one that needs as much, was confined before.
    private func canConfine(_ kind: WorkerKind) -> Bool {
        switch report.state {
        case .full: true
        case .withoutLandlock: kind != .drawings
        case .off, .unused, .unavailable: false
        }
    }

    /// Whether there is a sandbox. Starts a process if that is not known yet.
    func hasSandbox(_ kind: WorkerKind, _ checkpoint: Checkpoint?) throws(WebImageError) -> Bool {
        do throws(WebImageError) {
            giveBack(try lease(kind, checkpoint))
            return true
        } catch {
            // Where processes can be confined, a failed start is a passing fault, and no reason to decode here.
            guard error.code == .decoderUnavailable, !canConfine(kind) else { throw error }
            return false
        }
    }
}
