#if SVG || PDF
    import WebImageCore
    import WebImageSystem

    /// Runs the calls of librsvg and poppler, none of which can be interrupted, so that they end for the caller when
    /// their time is up.
    struct VectorThread {
        let format: ImageFormat
        let options: DecodeOptions
        /// Of each thread, in bytes.
        let stackSize: Int
        /// Of all of them together.
        private let limit: Duration
        private let deadline: ContinuousClock.Instant

        init(_ format: ImageFormat, _ options: DecodeOptions, stackSize: Int) {
            self.format = format
            self.options = options
            self.stackSize = stackSize
            limit = min(options.limits.time, options.limits.drawingTime)
            deadline = .now + limit
        }

        /// - Parameters:
        ///   - cancel: asks the library to end soon, if it can.
        ///   - body: holds all that it works on: it may go on when this has returned.
        /// - Throws: `limitExceeded` when the time is up, what the checkpoint throws; `decoderUnavailable` when there is no
        ///   thread, or too many drawings go on that were left.
        func run<Result: Sendable>(
            cancel: () -> Void = {}, _ body: @escaping @Sendable () -> Result
        ) throws(WebImageError) -> Result {
            var reason: WebImageError?
            let outcome = LeavableCall.run(
                stackSize: stackSize,
                leaves: {
                    if reason == nil {
                        reason = failure()
                        if reason != nil { cancel() }
                    }
                    // Most drawings end sooner than anybody could begin another one: who merely has lost interest waits.
                    return reason.map { $0.code != .cancelled || ContinuousClock.now > deadline } ?? false
                }, body)
            switch outcome {
            case .ended(let result):
                if let reason { throw reason }
                return result
            case .left: throw reason ?? timeIsUp
            case .refused:
                throw WebImageError(
                    .decoderUnavailable, "\(LeftCalls.ofProcess.most) drawings that took too long are still not done",
                    format: format)
            case .noThread:
                throw WebImageError(.decoderUnavailable, "there is no thread for the drawing", format: format)
            }
        }

        private func failure() -> WebImageError? {
            do throws(WebImageError) {
                try options.checkpoint?()
            } catch {
                return error
            }
            return ContinuousClock.now > deadline ? timeIsUp : nil
        }

        private var timeIsUp: WebImageError {
            WebImageError(
                .limitExceeded, "drawing took longer than \(limit); raise DecodeLimits.drawingTime to allow it",
                format: format)
        }
    }

    extension VectorThread {
        /// What a library has drawn: a canvas that belongs to the document.
        struct Drawing: @unchecked Sendable {
            // Sendable: nobody else has the pixels yet.
            /// As the library tells how it went.
            var result: Int32 = 0
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
        }

        /// ``run(cancel:_:)`` for a call that draws: it fills in what it is given.
        func draw(
            cancel: () -> Void = {}, _ body: @escaping @Sendable (inout Drawing) -> Void
        ) throws(WebImageError) -> Drawing {
            try run(cancel: cancel) {
                var drawing = Drawing()
                body(&drawing)
                return drawing
            }
        }
    }
#endif
