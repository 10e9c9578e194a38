import CShimSandbox
import WebImageCodecs

/// The pool of worker processes that the tests share.
enum Workers {
    /// Whether this system can run workers.
    static let areAvailable = wi_worker_can_be_this_program() != 0

    /// Whether workers are sandboxed. False in builds with a sanitizer, whose workers only keep to the protocol.
    static let areConfined = wi_worker_is_confined() != 0

    static let pool = DecoderPool(.all)
}
