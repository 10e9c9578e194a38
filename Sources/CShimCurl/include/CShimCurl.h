#pragma once
/* libcurl's setters and getters are variadic and many of its constants are macros with casts: Swift imports neither. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <curl/curl.h>
#include <sys/socket.h>

/// What a data callback returns to be called again with the same bytes once the transfer is resumed.
#define WI_CURL_PAUSE 0x10000001u

/// Receives bytes of the head or the body. `hooks` are those of the handle, whose context may change from one transfer to the
/// next.
typedef size_t (*wi_curl_data_callback)(char *_Nonnull bytes, size_t one, size_t count, void *_Nonnull hooks);
/// Asks whether an address may be connected to: 1 allows it, 0 refuses it.
typedef int (*wi_curl_address_callback)(const char *_Nonnull address, void *_Nonnull context);
/// Called when the connection is established; `address` is the remote one. 1 continues, 0 refuses.
typedef int (*wi_curl_ready_callback)(const char *_Nullable address, void *_Nonnull context);

/// The callbacks of a handle. They must outlive it.
typedef struct wi_curl_hooks {
    wi_curl_data_callback _Nonnull head;
    wi_curl_data_callback _Nonnull body;
    wi_curl_ready_callback _Nonnull ready;
    /// Null when every address is allowed.
    wi_curl_address_callback _Nullable address;
    void *_Nonnull context;
    /// The error number of the last socket that could not be opened; 0 if all could.
    int socket_error;
} wi_curl_hooks;

/// Initialises libcurl. Call it before anything else; it is safe to call it again. Returns 0 on success.
int wi_curl_initialise(void);

CURLcode wi_curl_set_number(CURL *_Nonnull easy, CURLoption option, long value);
CURLcode wi_curl_set_text(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value);
CURLcode wi_curl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value);
/// Copies the bytes.
CURLcode wi_curl_set_blob(CURL *_Nonnull easy, CURLoption option, const void *_Nullable bytes, size_t count);
/// Sets the body of the request. Copies the bytes.
CURLcode wi_curl_set_body(CURL *_Nonnull easy, const void *_Nullable bytes, size_t count);
/// Sets all callbacks and the private pointer. `hooks` is not copied.
CURLcode wi_curl_set_hooks(CURL *_Nonnull easy, wi_curl_hooks *_Nonnull hooks);
CURLMcode wi_curl_set_multi_number(CURLM *_Nonnull multi, CURLMoption option, long value);

long wi_curl_number(CURL *_Nonnull easy, CURLINFO info);
int64_t wi_curl_microseconds(CURL *_Nonnull easy, CURLINFO info);
const char *_Nullable wi_curl_text(CURL *_Nonnull easy, CURLINFO info);

/// Returns the context of the next transfer that has ended, and its result in `result`; null if there is none.
void *_Nullable wi_curl_next_done(CURLM *_Nonnull multi, CURLcode *_Nonnull result);

/// Converts a host name in UTF-8 to its form in DNS (UTS 46, non-transitional), which the caller frees with `curl_free`. Null if
/// the name has no such form, or if libcurl cannot convert names.
char *_Nullable wi_curl_ascii_host(const char *_Nonnull host);

/// Blocks SIGPIPE on the calling thread: OpenSSL writes to sockets without MSG_NOSIGNAL.
void wi_curl_mask_sigpipe(void);
