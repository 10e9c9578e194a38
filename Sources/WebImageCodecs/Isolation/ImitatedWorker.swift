package import WebImageCore

/// A worker with prepared messages, for fuzzers and tests of the host's side.
package enum ImitatedWorker {
    /// A coder whose first picture is decoded by such a worker. After the given messages the socket is closed.
    ///
    /// - Returns: nil if the system has no workers.
    package static func coder(_ coder: any ImageCoder, saying packets: [[UInt8]]) -> (any ImageCoder)? {
        guard let process = DecoderProcess(saying: packets) else { return nil }
        let pool = DecoderPool(DecoderIsolation(.all, program: "/nowhere"))
        pool.take(process)
        return IsolatedCoder(coder: coder, pool: pool)
    }

    /// The messages of a worker for a valid picture of the format: its header, its rows, its end. It does not wait for
    /// the plan.
    package static func conversation(about header: ImageHeader, session: UInt32 = 1) -> [[UInt8]] {
        let format = RowFormat(size: header.size, layout: .rgba8, alpha: .straight)
        var end = StillState()
        end.isComplete = true
        let run = RowRun(row: 0, count: header.size.height, wraps: false)
        return [
            message(.header, header.wireBytes, session), message(.begin, format.wireBytes, session),
            message(.rows, run.wireBytes, session), message(.still, end.wireBytes, session),
        ]
    }

    /// The messages of a worker for a valid animation and its frames.
    package static func conversation(
        aboutAnimation header: ImageHeader, frames: Int, session: UInt32 = 1
    ) -> [[UInt8]] {
        var state = AnimationState()
        state.header = header
        state.newDelays = Array(repeating: .milliseconds(50), count: frames)
        let format = RowFormat(size: header.size, layout: .rgba8, alpha: .straight)
        let run = RowRun(row: 0, count: header.size.height, wraps: false)
        var packets = [message(.animation, state.wireBytes, session)]
        for _ in 0..<frames {
            packets += [
                message(.pixels, format.wireBytes, session), message(.rows, run.wireBytes, session),
                message(.nothing, [], session), message(.animation, AnimationState().wireBytes, session),
            ]
        }
        return packets
    }

    static func message(_ reply: WorkerReply, _ bytes: [UInt8], _ session: UInt32) -> [UInt8] {
        [reply.rawValue, 0, 0, 0] + withUnsafeBytes(of: session) { Array($0) } + bytes
    }
}
