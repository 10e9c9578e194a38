#pragma once
#include <libde265/de265.h>
#include <stddef.h>
#include <stdint.h>

/* The functions around libde265 that Decoder.c and Stream.c share. Included after Functions.h. */

/* NULL if there is no memory. */
de265_decoder_context *wi_hevc_context(void);

/* Passes NAL units to libde265, each after its length in four bytes. Returns NULL, or a message about the error, which stays
   valid. */
const char *wi_hevc_push(de265_decoder_context *context, const uint8_t *bytes, size_t count);

/* A message about the first damage in the data so far; NULL if there is none. Warnings that do not affect pixels are ignored. */
const char *wi_hevc_damage(de265_decoder_context *context);

/* The picture that this thread's decoders of stills return; NULL: they decode their data. */
extern _Thread_local const struct de265_image *wi_hevc_lent;
