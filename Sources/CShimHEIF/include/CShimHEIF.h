#pragma once
/* Opens libheif and libde265, and connects them by a decoder plug-in of our own: libheif's plug-in for libde265 returns memory
   that was not written if the data is damaged, and does not report damage. Also decodes sequences of HEVC pictures, which libheif
   1.15 does not. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Opens libheif and libde265 at the first call. Returns NULL if they are open, else the reason, a string that stays valid. Any
/// thread may call it.
const char *_Nullable wi_heif_library_fault(void);

/// The name of a decoder of HEVC for `heif_decoding_options.decoder_id`. The decoder fails for damaged data, and its pixels depend
/// on nothing but the data and `wi_hevc_reduce`. NULL if libheif does not accept it. Any thread may call this. The first call
/// registers the decoder in this process with the lowest priority, so that it does not decode pictures of other users of libheif.
const char *_Nullable wi_heif_strict_decoder(void);

/// From now on, the strict decoder divides the sides of the pictures that it decodes on this thread, rounded up: by means, and by a
/// finer filter the last time that they are halved. Colour channels of a lower resolution get that of the brightness. The filters
/// that smooth the edges of blocks are left out; intra-coded pictures do not build on what they give. A picture that is lent is
/// divided, too.
///
/// @param denominator 2, 4, 8 or 16; 1: pictures keep their size from now on.
/// @param width, height the used part of the picture, from its upper left corner.
void wi_hevc_reduce(int denominator, int width, int height);

/// Decodes pictures that depend on each other. Not thread-safe: use it on one thread at a time.
typedef struct wi_hevc_stream wi_hevc_stream;

/// Returns NULL if there is no memory.
wi_hevc_stream *_Nullable wi_hevc_stream_create(void);
void wi_hevc_stream_free(wi_hevc_stream *_Nullable stream);

/// Takes the data of one picture, in the order of decoding: NAL units, each after its length in four bytes. Empty data means that
/// no more follows.
///
/// @return NULL, or a message about the error, which stays valid.
const char *_Nullable wi_hevc_stream_push(wi_hevc_stream *_Nonnull stream, const void *_Nullable data, size_t count);

/// Advances to the next picture in the order of showing.
///
/// @param fault receives a message if the data is damaged, which stays valid.
/// @return 1: there is a next picture; 0: more data is needed, or the last picture has been shown; -1: the data is damaged.
int wi_hevc_stream_advance(wi_hevc_stream *_Nonnull stream, const char *_Nullable *_Nonnull fault);

/// Until the next call with NULL, the strict decoder returns the picture that the stream has reached, for this thread and whatever
/// data it gets. libheif then converts that like any other picture.
void wi_hevc_stream_lend(const wi_hevc_stream *_Nullable stream);

#ifdef __cplusplus
}
#endif
