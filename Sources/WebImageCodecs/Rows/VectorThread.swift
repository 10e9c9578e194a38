#if SVG || PDF
    import WebImageCore
    import WebImageSystem

    /// Runs calls of librsvg and poppler, which cannot be interrupted, so that they end for the caller when their time
    /// is over.
    struct VectorThread {
        let format: ImageFormat
        let options: DecodeOptions
        /// The stack of each thread, in bytes.
        let stackSize: Int
        /// The limit for all calls together.
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
        ///   - cancel: asks the library to end soon, if possible.
        ///   - body: must retain everything that it uses, because it may continue when this has returned.
        /// - Throws: `limitExceeded` if the time is over, errors of the checkpoint; `decoderUnavailable` if there is no
        ///   thread, or too many abandoned drawings are running.
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
                    // A drawing that is only cancelled is awaited until its deadline: most end sooner than another one
                    // could begin.
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
            WebImageError(over: .drawingTime, "drawing took longer than \(limit.inWords)", format: format)
        }
    }

    extension VectorThread {
        /// What a library has drawn: a canvas that belongs to the document.
        struct Drawing: @unchecked Sendable {
            // Sendable: no other thread has the pixels yet.
            /// The library's result.
            var result: Int32 = 0
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
        }

        /// Like ``run(cancel:_:)``, for a call that draws: it fills in its argument.
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
