#if JXL
    import CSysJXL
    import Synchronization
    import WebImageCore

    /// Lets idle threads do parts of libjxl's work. The result does not depend on them.
    final class JXLHelp: Sendable {
        /// libjxl takes memory for each thread.
        private static let maxThreads = 4
        /// A loop with fewer parts ends before a helper arrives, which is then late for the next loop.
        private static let minParts = 32

        private let threads: any IdleThreads

        init?(_ threads: (any IdleThreads)?) {
            guard let threads else { return nil }
            self.threads = threads
        }

        /// The pointer for libjxl; valid as long as this object lives.
        var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        /// Runs one of libjxl's loops: `part` is called for each number of a range, on any thread, but never
        /// concurrently with the same thread number.
        static let runner: JxlParallelRunner = { opaque, work, prepare, part, start, end in
            guard let opaque, let prepare, let part else { return JXL_PARALLEL_RET_RUNNER_ERROR }
            let own = Unmanaged<JXLHelp>.fromOpaque(opaque).takeUnretainedValue()
            return own.run(Loop(work: work, part: part), prepare, start, end)
        }

        private struct Loop: @unchecked Sendable {
            // Sendable: libjxl allows its parts to run on several threads.
            let work: UnsafeMutableRawPointer?
            let part: JxlParallelRunFunction
        }

        private func run(_ loop: Loop, _ prepare: JxlParallelRunInit, _ start: UInt32, _ end: UInt32) -> Int32 {
            let count = Int(end) - Int(start)
            let threadCount = count < Self.minParts ? 1 : max(1, min(1 + threads.idleCount, Self.maxThreads))
            let code = prepare(loop.work, threadCount)
            guard code == 0, count > 0 else { return code }
            guard threadCount > 1 else {
                for number in start..<end { loop.part(loop.work, number, 0) }
                return 0
            }
            let next = Atomic(Int(start))
            let takeNext: @Sendable (Int) -> Void = { thread in
                while true {
                    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                    guard number < Int(end) else { return }
                    loop.part(loop.work, UInt32(number), thread)
                }
            }
            threads.share(threadCount, takeNext)
            return 0
        }
    }
#endif
