#pragma once
/* Opens libheif and libde265, and joins the two: libheif's own way to libde265 hands out memory that damaged data left unwritten, and does not tell of damage. This is
   another one, with the functions that a decoder of libheif's must be. And it decodes sequences of HEVC pictures, which libheif 1.15 does not. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why libheif and libde265 cannot be opened; NULL when they are open, which they are after the first call. Any thread; valid for
/// ever.
const char *_Nullable wi_heif_library_fault(void);

/// The name of a decoder of HEVC for `heif_decoding_options.decoder_id`, which fails on damaged data and whose pixels
/// depend on the data only. NULL when libheif does not take it. Any thread; the first call registers it, for this
/// process, behind all others, so that nobody else's pictures go through it.
const char *_Nullable wi_heif_strict_decoder(void);

/// Decodes pictures that depend on each other. One thread at a time uses it.
typedef struct wi_hevc_stream wi_hevc_stream;

/// NULL if there is no memory.
wi_hevc_stream *_Nullable wi_hevc_stream_create(void);
void wi_hevc_stream_free(wi_hevc_stream *_Nullable stream);

/// Takes the data of one picture, in the order of decoding: units, each behind its length in four bytes. Empty data says that no
/// more comes.
///
/// @return NULL, or what is wrong, valid for ever.
const char *_Nullable wi_hevc_stream_push(wi_hevc_stream *_Nonnull stream, const void *_Nullable data, size_t count);

/// Goes on to the next picture in the order of showing.
///
/// @param fault what is wrong with the data; valid for ever.
/// @return 1: there is one, 0: more data is needed, or there was the last one; -1: a fault.
int wi_hevc_stream_advance(wi_hevc_stream *_Nonnull stream, const char *_Nullable *_Nonnull fault);

/// Until the next call with NULL, the strict decoder answers this thread with the picture that the stream has reached, whatever
/// data it gets: libheif then converts it as any other picture.
void wi_hevc_stream_lend(const wi_hevc_stream *_Nullable stream);

#ifdef __cplusplus
}
#endif
