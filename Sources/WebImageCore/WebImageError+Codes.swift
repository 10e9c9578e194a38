extension WebImageError.Code {
    static let table: [(Int, String)] = [
        (1000, "invalidURL"), (1001, "badImageData"), (1002, "notModified"), (1003, "blockedURL"), (1004, "cacheMiss"),
        (2000, "requestRefused"), (2001, "badStatus"), (2002, "cancelled"), (2003, "responseRefused"),
        (2004, "badContentType"),
        (2101, "dnsFailed"), (2102, "connectionRefused"), (2103, "connectTimeout"), (2104, "tlsFailed"),
        (2105, "firstByteTimeout"), (2106, "idleTimeout"), (2107, "tooSlow"), (2108, "deadlineExceeded"),
        (2109, "truncatedBody"), (2110, "connectionLost"), (2111, "bodyTooLarge"), (2112, "tooManyRedirects"),
        (2113, "redirectRefused"), (2114, "addressRefused"), (2115, "unsupportedScheme"), (2116, "protocolError"),
        (2117, "decompressionLimit"), (2118, "authenticationFailed"), (2119, "circuitOpen"), (2120, "shutDown"),
        (2121, "queueFull"),
        (3000, "unknownFormat"), (3001, "unsupportedFeature"), (3002, "formatNotBuilt"), (3003, "corruptData"),
        (3004, "truncatedData"), (3005, "limitExceeded"), (3006, "cannotEncode"), (3007, "transformFailed"),
        (3008, "decoderCrashed"), (3009, "decoderUnavailable"),
        (4000, "cacheIO"), (4001, "noSpace"), (4002, "readOnly"), (4003, "corruptEntry"), (4004, "locked"),
        (5000, "fileNotFound"), (5001, "permissionDenied"), (5002, "notAFile"), (5003, "cannotWrite"),
        (5004, "cannotRead"),
    ]
}

extension WebImageError.Code {
    /// The text is not a URL that can be loaded.
    public static let invalidURL = Self(rawValue: 1000)
    /// The bytes arrived but cannot become a picture; the cause is a 30xx error.
    public static let badImageData = Self(rawValue: 1001)
    /// The origin answered 304 (not modified), but no cache entry exists to which that could refer.
    public static let notModified = Self(rawValue: 1002)
    /// The URL failed before, and is blocked for a while.
    public static let blockedURL = Self(rawValue: 1003)
    /// The request allowed only the caches, and they have no entry for it.
    public static let cacheMiss = Self(rawValue: 1004)

    /// A request modifier refused the request.
    public static let requestRefused = Self(rawValue: 2000)
    /// The HTTP status is not acceptable; ``WebImageError/status`` has it.
    public static let badStatus = Self(rawValue: 2001)
    /// The load was cancelled.
    public static let cancelled = Self(rawValue: 2002)
    /// A response modifier refused the response.
    public static let responseRefused = Self(rawValue: 2003)
    /// The response's content type is not acceptable.
    public static let badContentType = Self(rawValue: 2004)

    /// The host's name has no address.
    public static let dnsFailed = Self(rawValue: 2101)
    /// Nothing listens at that address and port, or the address cannot be reached.
    public static let connectionRefused = Self(rawValue: 2102)
    /// No connection was made within the connect deadline.
    public static let connectTimeout = Self(rawValue: 2103)
    /// The TLS handshake or the certificate check failed.
    public static let tlsFailed = Self(rawValue: 2104)
    /// No response arrived within the first-byte deadline.
    public static let firstByteTimeout = Self(rawValue: 2105)
    /// No byte of the body arrived within the idle deadline.
    public static let idleTimeout = Self(rawValue: 2106)
    /// The body arrived more slowly than the minimum speed.
    public static let tooSlow = Self(rawValue: 2107)
    /// The whole request took longer than its deadline.
    public static let deadlineExceeded = Self(rawValue: 2108)
    /// The body ended before its announced end.
    public static let truncatedBody = Self(rawValue: 2109)
    /// The connection broke.
    public static let connectionLost = Self(rawValue: 2110)
    /// The body is longer than allowed.
    public static let bodyTooLarge = Self(rawValue: 2111)
    /// More redirects than allowed, or a redirect loop.
    public static let tooManyRedirects = Self(rawValue: 2112)
    /// A redirect leads to a URL that the rules for redirects do not allow.
    public static let redirectRefused = Self(rawValue: 2113)
    /// The address policy does not allow this scheme, host, port or resolved address.
    public static let addressRefused = Self(rawValue: 2114)
    /// No loader accepts this scheme.
    public static let unsupportedScheme = Self(rawValue: 2115)
    /// The server's answer is not valid HTTP.
    public static let protocolError = Self(rawValue: 2116)
    /// A compressed body grows beyond the limit.
    public static let decompressionLimit = Self(rawValue: 2117)
    /// The credentials were not accepted.
    public static let authenticationFailed = Self(rawValue: 2118)
    /// The host failed so often that it is blocked for a while.
    public static let circuitOpen = Self(rawValue: 2119)
    /// The loader was shut down.
    public static let shutDown = Self(rawValue: 2120)

    /// Too many downloads are already waiting.
    public static let queueFull = Self(rawValue: 2121)

    /// The bytes are not in a known picture format.
    public static let unknownFormat = Self(rawValue: 3000)
    /// The picture uses a part of its format that is not supported.
    public static let unsupportedFeature = Self(rawValue: 3001)
    /// The format is known, but this build has no coder for it.
    public static let formatNotBuilt = Self(rawValue: 3002)
    /// The picture's data contradicts its format.
    public static let corruptData = Self(rawValue: 3003)
    /// The picture's data ends too early.
    public static let truncatedData = Self(rawValue: 3004)
    /// The picture is over one of ``DecodeLimits``.
    public static let limitExceeded = Self(rawValue: 3005)
    /// The picture cannot be written in that format.
    public static let cannotEncode = Self(rawValue: 3006)
    /// A transformer failed.
    public static let transformFailed = Self(rawValue: 3007)
    /// The decoder's process crashed, did something that its sandbox forbids, or sent an invalid answer. (Exceeding the
    /// time and memory of ``DecodeLimits`` is ``limitExceeded``.)
    public static let decoderCrashed = Self(rawValue: 3008)
    /// The picture's decoder cannot be used. If all its processes are busy or cannot be started now, a later attempt may
    /// succeed; if ``WebImageError/retryAfter`` is set, not before that time. A library or a sandbox that the system does
    /// not have is missing at each attempt.
    public static let decoderUnavailable = Self(rawValue: 3009)

    /// A read or write of the cache failed.
    public static let cacheIO = Self(rawValue: 4000)
    /// The cache's disk is full.
    public static let noSpace = Self(rawValue: 4001)
    /// The cache's directory cannot be written.
    public static let readOnly = Self(rawValue: 4002)
    /// A cache entry failed its checks and was dropped.
    public static let corruptEntry = Self(rawValue: 4003)
    /// Another process holds the cache.
    public static let locked = Self(rawValue: 4004)

    /// There is no such file.
    public static let fileNotFound = Self(rawValue: 5000)
    /// The file may not be read or written.
    public static let permissionDenied = Self(rawValue: 5001)
    /// The path is a directory, a socket or something else that is not a regular file.
    public static let notAFile = Self(rawValue: 5002)
    /// The file could not be written.
    public static let cannotWrite = Self(rawValue: 5003)
    /// The file exists, but the system could not read it: a failing disk, or no file descriptor left.
    public static let cannotRead = Self(rawValue: 5004)
}
