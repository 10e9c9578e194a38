import WebImageCore
import WebImageSystem

/// The thread that starts a pool's processes and ends them.
extension DecoderPool {
    private static let idleTime = Duration.seconds(30)

    /// Starts the thread that starts and ends processes, and outlives them: the system ends a process with the thread
    /// that started it, so that none is left when this program dies.
    func startKeeper() {
        let state = state
        let settings = settings
        let notify = notify
        // The processes inherit the thread's scheduling, by which threads with little to do go first.
        let hasStarted = startComputingThread(named: "wi-decoders") {
            while Self.keep(state, settings, notify) {}
        }
        guard !hasStarted else { return }
        let starts = state.withLock { state in
            state.hasKeeper = false
            state.starting = 0
            defer { state.starts = [] }
            return state.starts
        }
        for start in starts {
            start.answer?.give(.failure(WebImageError(.decoderUnavailable, "there is no thread to start a decoder")))
        }
    }

    private enum Chore {
        case start(Start)
        case end([DecoderProcess])
        case leave
    }

    /// - Returns: false if no processes are left.
    private static func keep(
        _ state: Monitor<State>, _ settings: WorkerSettings, _ notify: (Event) -> Void
    ) -> Bool {
        let chore = state.wait(atMost: .seconds(1)) { state -> Chore? in
            if state.isShutDown {
                for process in state.processes where !process.lending.isBusy { doom(process, &state) }
                for process in state.processes { process.kill() }
            }
            if !state.doomed.isEmpty {
                defer { state.doomed = [] }
                return .end(state.doomed)
            }
            if let start = state.starts.first {
                state.starts.removeFirst()
                return .start(start)
            }
            if state.isShutDown, state.processes.isEmpty, state.starting == 0 { return .leave }
            return nil
        }
        switch chore {
        case .end(let processes):
            // Pictures that have not been closed may still refer to them.
            for process in processes { _ = process.end(while: "it was not needed") }
            return !hasNothingLeft(state)
        case nil: return !hasNothingLeft(state)
        case .leave: return false
        case .start(let start):
            let result = Result { () throws(WebImageError) in try DecoderProcess(start.kind, settings) }
            state.withLock { state in
                state.starting -= 1
                switch result {
                case .success(let process):
                    process.lending.isBusy = start.answer != nil
                    state.processes.append(process)
                    state.report.started += 1
                case .failure: state.failedStarts.noteFailure(at: .now)
                }
            }
            if case .success = result { notify(.started) }
            start.answer?.give(result)
            return true
        }
    }

    /// Ends processes that were idle for long.
    ///
    /// - Returns: whether none is left, so that the thread may end.
    private static func hasNothingLeft(_ state: Monitor<State>) -> Bool {
        state.withLock { state in
            let limit = ContinuousClock.now - idleTime
            for process in state.processes where !process.lending.isBusy && process.lending.idleSince < limit {
                doom(process, &state)
            }
            guard state.processes.isEmpty, state.starting == 0, state.doomed.isEmpty else { return false }
            state.hasKeeper = false
            return true
        }
    }
}
