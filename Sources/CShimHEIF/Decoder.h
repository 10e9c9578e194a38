#pragma once
#include <libde265/de265.h>
#include <stddef.h>
#include <stdint.h>

/* What Decoder.c and Stream.c share of libde265. Included after Functions.h. */

/* NULL if there is no memory. */
de265_decoder_context *wi_hevc_context(void);

/* Takes units, each behind its length in four bytes. NULL, or what is wrong, valid for ever. */
const char *wi_hevc_push(de265_decoder_context *context, const uint8_t *bytes, size_t count);

/* The first thing that is wrong with the data so far, NULL if nothing is; of what it may say besides, nothing changes a pixel. */
const char *wi_hevc_damage(de265_decoder_context *context);

/* The picture that this thread's decoders of stills answer with; NULL: they decode. */
extern _Thread_local const struct de265_image *wi_hevc_lent;
