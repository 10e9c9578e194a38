import Synchronization
package import WebImageCore
package import WebImageProcessing
import WebImageSystem

/// Handles untrusted colour profiles: those with curves and a matrix are read by our Swift code, those with tables by
/// lcms2 in a process of its own, which returns their colours at the points of a grid.
extension DecoderPool {
    /// lcms2 takes some milliseconds; a profile that takes longer than this counts as unusable.
    private static let longest = Duration.seconds(5)

    /// Makes the converter to sRGB, see ``/WebImageProcessing/ColorConverter/init(colors:layout:)``.
    ///
    /// - Throws: `decoderUnavailable` if no process is available.
    package func converter(for colors: PixelColors, _ layout: PixelLayout) throws(WebImageError) -> ColorConverter? {
        guard case .profile(let profile) = colors, ProfileTable.isNeeded(for: profile), try isIsolated else {
            return ColorConverter(colors: colors, layout: layout)
        }
        return try table(of: profile).flatMap { ColorConverter($0, layout: layout) }
    }

    /// Makes the converter from four inks to sRGB, see ``/WebImageProcessing/InkConverter/init(iccProfile:)``.
    ///
    /// - Throws: `decoderUnavailable` if no process is available.
    func inkConverter(for profile: [UInt8]) throws(WebImageError) -> InkConverter? {
        guard try isIsolated else { return InkConverter(iccProfile: profile) }
        return try table(of: profile).flatMap { InkConverter($0) }
    }

    private var isIsolated: Bool {
        get throws(WebImageError) {
            guard isolation.formats != .none else { return false }
            return isolation.withoutSandbox == .refuse ? true : try hasSandbox(.pictures, nil)
        }
    }

    /// - Returns: nil for a profile that cannot be used, or that crashed the process.
    private func table(of profile: [UInt8]) throws(WebImageError) -> ProfileTable? {
        if let known = tables.withLock({ $0.entry(of: profile) }) { return known.table }
        var found = try newTable(of: profile)
        // A process that served others may have been damaged by them, and the machine may have been slow for a moment.
        switch found {
        case .lost(hasServedOthers: true), .tookTooLong: found = try newTable(of: profile, isFresh: true)
        case .read, .lost: break
        }
        let table: ProfileTable?
        switch found {
        case .read(let read): table = read
        case .lost, .tookTooLong: table = nil
        }
        tables.withLock { $0.add(KnownTables.Entry(profile: profile, table: table)) }
        return table
    }

    private enum Found {
        /// nil for a profile that cannot be used.
        case read(ProfileTable?)
        /// The process crashed, or violated the protocol.
        case lost(hasServedOthers: Bool)
        case tookTooLong
    }

    private func newTable(of profile: [UInt8], isFresh: Bool = false) throws(WebImageError) -> Found {
        let limit = ContinuousClock.now + Self.longest
        let checkpoint: Checkpoint = { () throws(WebImageError) in
            guard ContinuousClock.now < limit else { throw WebImageError(.limitExceeded, "the profile takes too long") }
        }
        let process: DecoderProcess
        do throws(WebImageError) {
            process = try lease(.pictures, isFresh: isFresh, checkpoint)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            throw WebImageError(.decoderUnavailable, "all processes for decoding are busy", cause: error)
        }
        let session = openSession(process)
        do throws(DecoderProcess.Failure) {
            try process.put(.colors, session, ProfileAsked(profile: profile).wireBytes, checkpoint)
            let (reply, message) = try process.receive(session, longest: 1 << 20, checkpoint)
            guard reply == .colors else { throw .invalidMessage }
            let table = try DecoderProcess.value(message, ProfileRead.self).table
            closeSession(session, process, isKnown: true)
            giveBack(process, retires: table == nil)
            return .read(table)
        } catch {
            let what = "it read a colour profile"
            if case .callerGaveUp = error {
                end(process, .ended, while: what)
                return .tookTooLong
            }
            return .lost(hasServedOthers: end(process, .crashed, while: what).hasServedOthers)
        }
    }
}

/// The most recent tables, by the bytes of their profiles.
struct KnownTables {
    struct Entry {
        let profile: [UInt8]
        /// nil for a profile that cannot be used.
        let table: ProfileTable?
    }

    private static let most = 4

    private var entries: [Entry] = []

    func entry(of profile: [UInt8]) -> Entry? { entries.first { $0.profile == profile } }

    mutating func add(_ entry: Entry) {
        entries.removeAll { $0.profile == entry.profile }
        if entries.count >= Self.most { entries.removeFirst() }
        entries.append(entry)
    }
}
