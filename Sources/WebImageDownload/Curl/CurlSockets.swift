import CShimCurl
import WebImageCore
import WebImageSystem

/// What libcurl waits for: the sockets that it names, and its one timer. It is told of each that is ready, so that a turn
/// of the loop costs what has moved, not what is open.
///
/// Belongs to the loop's thread, but for ``wake()``.
final class CurlSockets {
    /// Nobody's deadline is as far away as this: libcurl is asked again after it.
    private static let waitLimit = Duration.seconds(60)

    private let multi: UnsafeMutableRawPointer
    private let poller: SocketPoller
    /// What each socket is watched for, by its number.
    private var interests: [SocketPoller.Readiness] = []
    /// No longer watched. They are forgotten before the next wait, since most are wanted again by then, for the
    /// connection's next request.
    private var released: [Int32] = []
    /// What the last wait found.
    private var ready: [(socket: Int32, readiness: SocketPoller.Readiness)] = []
    /// When libcurl wants to be called; zero for at once.
    private var timer: Duration?

    init(_ multi: UnsafeMutableRawPointer, _ poller: SocketPoller) {
        self.multi = multi
        self.poller = poller
        let context = Unmanaged.passUnretained(self).toOpaque()
        wi_curl_set_multi_callbacks(
            multi,
            { _, socket, what, context, _ in
                sockets(context)._withUnsafeGuaranteedRef { $0.libcurlWants(what, of: socket) }
                return 0
            },
            { _, milliseconds, context in
                sockets(context)._withUnsafeGuaranteedRef { $0.libcurlWaits(milliseconds: milliseconds) }
                return 0
            }, context)
    }

    func wake() { poller.wake() }

    // MARK: From libcurl

    private func libcurlWants(_ what: Int32, of socket: Int32) {
        let readiness: SocketPoller.Readiness =
            switch what {
            case CURL_POLL_IN: .readable
            case CURL_POLL_OUT: .writable
            case CURL_POLL_INOUT: [.readable, .writable]
            default: []
            }
        while interests.count <= socket { interests.append([]) }
        interests[Int(socket)] = readiness
        if readiness.isEmpty {
            released.append(socket)
        } else if !poller.watch(socket, for: readiness) {
            // Without memory for it in the kernel: libcurl looks at it by itself when its timer has gone off.
            interests[Int(socket)] = []
        }
    }

    private func libcurlWaits(milliseconds: Int) {
        switch milliseconds {
        case ..<0: timer = nil
        case 0: timer = .zero
        default: timer = SystemClock.shared.now + .milliseconds(milliseconds)
        }
    }

    // MARK: From the loop

    /// Something was changed that libcurl looks at by its timer.
    func makeTimerDue() { timer = .zero }

    /// Lets libcurl do what is due.
    func runTimer() {
        guard let due = timer, due == .zero || due <= SystemClock.shared.now else { return }
        timer = nil
        act(on: CURL_SOCKET_TIMEOUT, [])
    }

    /// Waits until a socket is ready. libcurl works on it in ``runReady()``, after what was asked of the loop meanwhile: a
    /// pause that was asked for holds back what came after it.
    ///
    /// - Parameter mayWait: false to look only.
    func wait(mayWait: Bool) {
        for socket in released where interests[Int(socket)].isEmpty { poller.forget(socket) }
        released.removeAll(keepingCapacity: true)
        poller.wait(milliseconds: mayWait ? longestWait : 0) { ready.append(($0, $1)) }
    }

    /// Lets libcurl work on the sockets that are ready.
    func runReady() {
        // What was there for one of them may have ended meanwhile.
        for (socket, readiness) in ready where !interests[Int(socket)].isEmpty { act(on: socket, readiness) }
        ready.removeAll(keepingCapacity: true)
    }

    /// In milliseconds.
    private var longestWait: Int32 {
        guard let timer else { return Int32(Self.waitLimit / .milliseconds(1)) }
        let left = min(max(timer - SystemClock.shared.now, .zero), Self.waitLimit)
        return Int32((left / .milliseconds(1)).rounded(.up))
    }

    private func act(on socket: Int32, _ readiness: SocketPoller.Readiness) {
        var bits: Int32 = 0
        if readiness.contains(.readable) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { bits |= CURL_CSELECT_OUT }
        var running: Int32 = 0
        // Without any bit libcurl looks for itself.
        curl_multi_socket_action(multi, socket, bits, &running)
    }
}

private func sockets(_ context: UnsafeMutableRawPointer) -> Unmanaged<CurlSockets> { .fromOpaque(context) }
