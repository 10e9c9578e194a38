import CShimSandbox
import WebImageCodecs

/// The decoding processes that these tests share.
enum Workers {
    /// False on systems that have none.
    static let areThere = wi_worker_can_be_this_program() != 0

    /// False in builds with a sanitizer, whose workers keep to the protocol only.
    static let areConfined = wi_worker_is_confined() != 0

    static let pool = DecoderPool(.all)
}
