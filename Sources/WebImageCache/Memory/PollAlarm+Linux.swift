import Synchronization
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Waits in poll(2) for PSI triggers and for changes of `memory.events`.
package final class PollAlarm: MemoryPressureAlarm {
    /// Work waited for 150 ms in two seconds; windows that are multiples of two seconds need no privilege.
    private static let trigger = "some 150000 2000000"

    /// The polled files, which the waiting thread closes. The first one is for stopping.
    private let descriptors: Guarded<[Int32]>
    private let stopEnd: Guarded<Int32?>

    /// Nil if no PSI file accepts a trigger.
    ///
    /// - Parameters:
    ///   - events: files that report their changes; those that cannot be opened are left out.
    ///   - stalls: PSI files; the first that accepts a trigger is used.
    package init?(events: [String], stalls: [String]) {
        var stall: Int32?
        for path in stalls where stall == nil { stall = Self.openTrigger(path) }
        let watched =
            events.map { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }.filter { $0 >= 0 } + [stall].compactMap(\.self)
        guard stall != nil, let stop = PipeEnds() else {
            // Without a trigger only a limit's event would wake the thread, which is too late on machines without
            // limits.
            for file in watched { close(file) }
            return nil
        }
        descriptors = Guarded([stop.reading] + watched)
        stopEnd = Guarded(stop.writing)
    }

    deinit {
        stop()
        closeAll()
    }

    private func closeAll() {
        let files = descriptors.withLock { files in
            defer { files = [] }
            return files
        }
        for file in files { close(file) }
    }

    private static func openTrigger(_ path: String) -> Int32? {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        // The kernel requires the terminating zero, too.
        if write(file, trigger, trigger.utf8.count + 1) > 0 { return file }
        close(file)
        return nil
    }

    package func wait() -> Bool {
        while true {
            let files = descriptors.withLock { $0 }
            guard files.count > 1 else { return false }
            var polled = files.enumerated().map { index, file in
                pollfd(fd: file, events: Int16(index == 0 ? POLLIN : POLLPRI), revents: 0)
            }
            if poll(&polled, nfds_t(polled.count), -1) < 0 {
                if errno == EINTR { continue }
                return false
            }
            if polled[0].revents != 0 {
                // Closed on this thread, not the owner's: the kernel takes 15 ms to remove a trigger.
                closeAll()
                return false
            }
            drop(polled.filter { $0.revents & Int16(POLLNVAL) != 0 || Self.isGone($0) }.map(\.fd))
            let told = polled.filter { $0.revents & Int16(POLLPRI) != 0 }
            // The group of a file was removed if it can no longer be read; the kernel reports that like a change.
            let removed = told.map(\.fd).filter { !Self.acknowledge($0) }
            drop(removed)
            if told.count > removed.count { return true }
        }
    }

    /// `memory.events` reports POLLERR with POLLPRI for each change; POLLERR alone means that the file is of no more use.
    private static func isGone(_ polled: pollfd) -> Bool {
        polled.revents & Int16(POLLERR) != 0 && polled.revents & Int16(POLLPRI) == 0
    }

    /// A change is reported again until it is read.
    ///
    /// - Returns: false if the file cannot be read.
    private static func acknowledge(_ file: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            pread(file, buffer.baseAddress, buffer.count, 0) >= 0
        }
    }

    private func drop(_ gone: [Int32]) {
        guard !gone.isEmpty else { return }
        descriptors.withLock { $0.removeAll { gone.contains($0) } }
        for file in gone { close(file) }
    }

    package func stop() {
        let end = stopEnd.withLock { end in
            defer { end = nil }
            return end
        }
        if let end { close(end) }
    }
}
