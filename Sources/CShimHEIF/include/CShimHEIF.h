#pragma once
/* Opens libheif and libde265, and joins the two: libheif's own way to libde265 hands out memory that damaged data left unwritten, and does not tell of damage. This is
   another one, with the functions that a decoder of libheif's must be. */

#ifdef __cplusplus
extern "C" {
#endif

/// Why libheif and libde265 cannot be opened; NULL when they are open, which they are after the first call. Any thread; valid for ever.
const char *_Nullable wi_heif_library_fault(void);

/// The name of a decoder of HEVC for `heif_decoding_options.decoder_id`, which fails on damaged data and whose pixels
/// depend on the data only. NULL when libheif does not take it. Any thread; the first call registers it, for this
/// process, behind all others, so that nobody else's pictures go through it.
const char *_Nullable wi_heif_strict_decoder(void);

#ifdef __cplusplus
}
#endif
