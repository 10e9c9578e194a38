public import WebImageCache
import WebImageDownload
import WebImageSystem

extension DiskMetadata {
    /// Whether the entry was stored longer ago than so many seconds; false where that is not known.
    ///
    /// - Parameters:
    ///   - seconds: an age.
    ///   - now: in seconds since 1970. Default: what the system's clock says.
    public func wasStored(before seconds: Int64, now: Int64? = nil) -> Bool {
        let now = now ?? SystemClock.shared.wallTime
        return storedAt.map { now.subtractingReportingOverflow($0).partialValue > seconds } ?? false
    }

    /// For how many seconds a tier that several users share may keep the entry (RFC 9111 sections 3, 3.5 and 5.2.2).
    ///
    /// An answer that is `private` is not for them, nor one to a request with credentials or cookies, unless the origin
    /// says with `public`, `s-maxage` or `must-revalidate` that it is. What was no answer of HTTP's is not, either.
    /// Whether an entry that is kept is fresh is decided by who takes it.
    ///
    /// - Parameters:
    ///   - now: in seconds since 1970. Default: what the system's clock says.
    ///   - most: where the origin does not say for how long it may be shared, in seconds.
    /// - Returns: nil when it must not be shared.
    public func sharedLifetime(now: Int64? = nil, most: Int64) -> Int64? {
        let response = storedResponse
        let control = response.control
        guard status != nil, !control.noStore, !control.isPrivate else { return nil }
        let isForAll = control.isPublic || control.sharedMaxAge != nil
        let isSomebodys = response.scope != nil
        if isSomebodys, !isForAll, !control.mustRevalidate { return nil }
        if response.cookies.contains(where: { !$0.value.isEmpty }), !isForAll { return nil }
        guard let lifetime = control.sharedMaxAge else { return most }
        let now = now ?? SystemClock.shared.wallTime
        let age = max(min(response["age"].flatMap { Int64($0) } ?? 0, 1 << 31), 0)
        let sinceThen = max(now.subtractingReportingOverflow(responseTime ?? now).partialValue, 0)
        let left = min(lifetime - age - sinceThen, most)
        return left > 0 ? left : nil
    }
}
