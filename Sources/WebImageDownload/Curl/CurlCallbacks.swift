import CShimCurl

/// The callbacks by which libcurl reaches the transfer of a handle.
enum CurlCallbacks {
    /// The callbacks without a transfer. They are set once for each handle; only the context changes.
    static var none: wi_curl_hooks {
        wi_curl_hooks(
            head: { bytes, _, count, hooks in
                transfer(hooks)._withUnsafeGuaranteedRef {
                    $0.receiveHead(UnsafeRawBufferPointer(start: bytes, count: count))
                }
            },
            body: { bytes, _, count, hooks in
                transfer(hooks)._withUnsafeGuaranteedRef {
                    $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count))
                }
            },
            ready: { address, context in
                Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.becomeReady(address) ? 1 : 0
                }
            },
            address: nil,
            // Never dereferenced: a handle without a transfer is in no multi handle.
            context: UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped, socket_error: 0)
    }

    /// Asks the transfer's address policy before a connection is opened.
    static let asksForAddresses: wi_curl_address_callback = { address, context in
        Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.allow(String(cString: address)) ? 1 : 0
        }
    }
}

private func transfer(_ hooks: UnsafeMutableRawPointer) -> Unmanaged<CurlTransfer> {
    .fromOpaque(hooks.assumingMemoryBound(to: wi_curl_hooks.self).pointee.context)
}
