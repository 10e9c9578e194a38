import CShimCurl
import Synchronization
import WebImageCore
import WebImageSystem

/// The thread that owns a multi handle and every easy handle. Other threads leave commands in its inbox.
final class CurlLoop: @unchecked Sendable {
    // Sendable: the inbox is guarded; everything else is constant or belongs to the loop's thread.
    enum Command {
        case add(CurlTransfer)
        case cancel(CurlTransfer)
        case pause(CurlTransfer)
        case resume(CurlTransfer)
        case stop
    }

    private struct Inbox {
        var commands: [Command] = []
        /// True while the thread sleeps. Only then must it be woken.
        var isSleeping = false
        var hasStopped = false
        private var hasThread = false

        /// - Returns: whether the caller must start the thread.
        mutating func takeThread() -> Bool {
            defer { hasThread = true }
            return !hasThread
        }

        mutating func loseThread() { hasThread = false }
    }

    private let inbox = Guarded(Inbox())
    /// Other threads may only call `curl_multi_wakeup` with it.
    private let multi: UnsafeMutableRawPointer
    private var options: CurlOptions
    /// How long the thread sleeps when nothing happens, in milliseconds.
    private let longestSleep: Int32

    // Unchecked: they belong to the loop's thread.
    @exclusivity(unchecked) private var live: [CurlTransfer] = []
    @exclusivity(unchecked) private var touched: [CurlTransfer] = []
    @exclusivity(unchecked) private var batch: [CurlTransfer] = []
    @exclusivity(unchecked) private var spareHandles: [CurlHandle] = []

    init(settings: CurlTransport.Settings) {
        precondition(wi_curl_initialise() == 0, "libcurl cannot be initialised")
        guard let multi = curl_multi_init() else { fatalError("no memory for libcurl") }
        self.multi = multi
        // Without a free file descriptor, libcurl cannot create its wake-up channel: the thread then wakes by itself
        // every 20 ms.
        longestSleep = curl_multi_wakeup(multi) == CURLM_OK ? 60_000 : 20
        options = CurlOptions(certificateBundle: settings.certificateBundle)
        wi_curl_set_multi_number(multi, CURLMOPT_MAXCONNECTS, settings.maxIdleConnections)
        wi_curl_set_multi_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        if inbox.withLock({ $0.takeThread() }) { startThread() }
    }

    /// Starts the thread. If the system has no thread left, the transfers that wait for it fail, and the next one tries
    /// again.
    private func startThread() {
        if WebImageSystem.startThread(named: "wi-curl", { self.run() }) { return }
        let waiting = inbox.withLock { inbox in
            // At once, so that nobody starts another thread beside the stop.
            inbox.hasStopped = inbox.commands.contains { if case .stop = $0 { true } else { false } }
            inbox.loseThread()
            defer { inbox.commands = [] }
            return inbox.commands
        }
        let error = WebImageError(.queueFull, "the system has no thread left for the network")
        for command in waiting {
            switch command {
            case .add(let transfer): transfer.finish(.failure(error))
            case .stop: stop()
            case .cancel, .pause, .resume: break
            }
        }
    }

    /// The multi handle is not freed when the thread ends: another thread may be between the inbox and
    /// `curl_multi_wakeup`.
    deinit { curl_multi_cleanup(multi) }

    func post(_ command: Command) {
        let (wake, starts, end) = inbox.withLock { inbox -> (Bool, Bool, WebImageError?) in
            if inbox.hasStopped { return (false, false, Self.shutDown) }
            inbox.commands.append(command)
            defer { inbox.isSleeping = false }
            return (inbox.isSleeping, inbox.takeThread(), nil)
        }
        if wake { curl_multi_wakeup(multi) }
        if starts { startThread() }
        if let end, case .add(let transfer) = command { transfer.finish(.failure(end)) }
    }

    func noteTouched(_ transfer: CurlTransfer) { touched.append(transfer) }

    private static var shutDown: WebImageError { WebImageError(.shutDown, "the loader was shut down") }

    // MARK: The thread

    private func run() {
        wi_curl_mask_sigpipe()
        var commands: [Command] = []
        var running: Int32 = 0
        while true {
            var mustStop = false
            while takeCommands(&commands) {
                for command in commands { mustStop = carryOut(command) || mustStop }
                commands.removeAll(keepingCapacity: true)
            }
            if mustStop { break }
            curl_multi_perform(multi, &running)
            finishDone()
            endBatch()
            if prepareToSleep() {
                curl_multi_poll(multi, nil, 0, sleep, nil)
                inbox.withLock { $0.isSleeping = false }
            }
        }
        stop()
    }

    /// How long the thread may sleep now, in milliseconds. While a transfer is connecting, it wakes often: when libcurl
    /// 7.88 gives up an address, it does not ask to be called again for the next one.
    private var sleep: Int32 { live.contains { !$0.isConnected } ? min(longestSleep, 500) : longestSleep }

    private func takeCommands(_ commands: inout [Command]) -> Bool {
        inbox.withLock { inbox in
            swap(&inbox.commands, &commands)
            return !commands.isEmpty
        }
    }

    private func prepareToSleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isSleeping = inbox.commands.isEmpty
            return inbox.isSleeping
        }
    }

    /// Returns true if the command stops the loop.
    private func carryOut(_ command: Command) -> Bool {
        switch command {
        case .add(let transfer): add(transfer)
        case .cancel(let transfer): end(transfer, .failure(.cancelled))
        case .pause(let transfer): transfer.setPaused(true)
        case .resume(let transfer): transfer.setPaused(false)
        case .stop: return true
        }
        return false
    }

    private func add(_ transfer: CurlTransfer) {
        guard !transfer.isCancelled else { return transfer.finish(.failure(.cancelled)) }
        guard let handle = spareHandles.popLast() ?? CurlHandle() else {
            return transfer.finish(.failure(WebImageError(.protocolError, "no memory for libcurl")))
        }
        transfer.handle = handle
        transfer.place = live.count
        live.append(transfer)
        do throws(WebImageError) {
            try options.apply(to: handle, of: transfer)
        } catch {
            return end(transfer, .failure(error))
        }
        let result = curl_multi_add_handle(multi, handle.easy)
        if result != CURLM_OK {
            end(transfer, .failure(WebImageError(.protocolError, "libcurl takes no request (\(result.rawValue))")))
        }
    }

    private func finishDone() {
        var code = CURLE_OK
        while let context = wi_curl_next_done(multi, &code) {
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            guard let handle = transfer.handle else { continue }
            if code == CURLE_OK { transfer.deliverHead() }
            end(transfer, CurlResult.result(code, handle, of: transfer))
        }
    }

    private func endBatch() {
        guard !touched.isEmpty else { return }
        swap(&batch, &touched)
        for transfer in batch { transfer.endBatch() }
        batch.removeAll(keepingCapacity: true)
    }

    /// Detaches the handle from the transfer, and reports the end to its receiver.
    private func end(_ transfer: CurlTransfer, _ result: Result<TransportTimings, WebImageError>) {
        if let handle = transfer.handle {
            transfer.handle = nil
            curl_multi_remove_handle(multi, handle.easy)
            handle.release()
            if spareHandles.count < 64 { spareHandles.append(handle) }
            // The last transfer moves into the place of the removed one.
            let last = live.removeLast()
            if last !== transfer {
                last.place = transfer.place
                live[transfer.place] = last
            }
        }
        transfer.finish(result)
    }

    private func stop() {
        let rest = inbox.withLock { inbox in
            inbox.hasStopped = true
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for transfer in live { end(transfer, .failure(Self.shutDown)) }
        for case .add(let transfer) in rest { transfer.finish(.failure(Self.shutDown)) }
        touched = []
        spareHandles = []
        options.close()
    }
}
