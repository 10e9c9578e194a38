#pragma once
#include <stddef.h>
#include <stdint.h>

/* Decodes the content codings of an HTTP body (RFC 9110 section 8.4.1), one piece at a time. libcurl would decode a piece to its
   end even if its receiver wants no more bytes, and keep the result in memory. The libraries of Brotli and Zstandard, which
   libcurl needs anyway, are opened when they are first needed. */

#pragma clang assume_nonnull begin

typedef struct wi_coding wi_coding;

typedef enum {
    /// gzip, also with several members.
    WI_CODING_GZIP,
    /// deflate, with zlib's header or, as some servers send it, without.
    WI_CODING_DEFLATE,
    WI_CODING_BROTLI,
    /// Zstandard, with windows of up to 8 MiB (RFC 9659).
    WI_CODING_ZSTD,
} wi_coding_kind;

/// NULL if the coding's library can be used, else the reason why not. Any thread may call it.
const char *_Nullable wi_coding_library_fault(wi_coding_kind kind);

/// Returns NULL if memory is exhausted, or the coding's library cannot be used.
wi_coding *_Nullable wi_coding_create(wi_coding_kind kind);
void wi_coding_destroy(wi_coding *coding);

/// Decodes as many bytes as fit into `output`. If `made` is less than `room`, all of `bytes` has been taken. Bytes after the end
/// of the coded data are taken and ignored, as in browsers.
///
/// - Returns: 0, or -1 if the bytes are not valid in the coding, or memory is exhausted.
int wi_coding_decode(
    wi_coding *coding, const uint8_t *_Nullable bytes, size_t count, size_t *taken, uint8_t *output, size_t room,
    size_t *made);

/// Whether the bytes so far are a whole body: they end where the coded data ends, or there were none.
int wi_coding_is_whole(const wi_coding *coding);

#pragma clang assume_nonnull end
