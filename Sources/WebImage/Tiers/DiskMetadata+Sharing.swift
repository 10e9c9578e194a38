public import WebImageCache
import WebImageDownload
import WebImageSystem

extension DiskMetadata {
    /// Whether the entry was stored longer ago than a number of seconds; false if that is not known.
    ///
    /// - Parameters:
    ///   - seconds: an age.
    ///   - now: in seconds since 1970. Default: what the system's clock says.
    public func wasStored(before seconds: Int64, now: Int64? = nil) -> Bool {
        let now = now ?? SystemClock.shared.wallTime
        return storedAt.map { now.subtractingReportingOverflow($0).partialValue > seconds } ?? false
    }

    /// Returns for how many seconds a tier that several users share may keep the entry (RFC 9111 sections 3, 3.5 and
    /// 5.2.2).
    ///
    /// An answer that is `private` or `no-store` must not be shared. An answer that one user got, with credentials for
    /// example, may be shared only if the origin allows it with `public`, `s-maxage` or `must-revalidate`; if the
    /// request had cookies, `must-revalidate` does not suffice. Entries that did not come by HTTP must not be shared,
    /// either. The program that reads an entry decides whether it is still fresh.
    ///
    /// - Parameters:
    ///   - now: in seconds since 1970. Default: what the system's clock says.
    ///   - most: the longest lifetime in seconds. It is also the lifetime if the origin sets no `s-maxage`.
    /// - Returns: nil when it must not be shared, or when `s-maxage` is over.
    public func sharedLifetime(now: Int64? = nil, most: Int64) -> Int64? {
        let response = storedResponse
        let control = response.control
        guard status != nil, !control.noStore, !control.isPrivate else { return nil }
        let isForAll = control.isPublic || control.sharedMaxAge != nil
        let isSomebodys = response.isOfUser
        if isSomebodys, !isForAll, !control.mustRevalidate { return nil }
        if response.cookies.contains(where: { !$0.value.isEmpty }), !isForAll { return nil }
        guard let lifetime = control.sharedMaxAge else { return most }
        let now = now ?? SystemClock.shared.wallTime
        let age = max(min(response["age"].flatMap { Int64($0) } ?? 0, 1 << 31), 0)
        let sinceThen = max(now.subtractingReportingOverflow(responseTime ?? now).partialValue, 0)
        // No lifetime is longer than 2^31 s. The metadata may come from anybody, so the time may be any number.
        let left = min(lifetime - age - min(sinceThen, 1 << 32), most)
        return left > 0 ? left : nil
    }
}
