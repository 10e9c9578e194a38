#pragma once
/* Inflates a zlib stream that comes in pieces: through ISA-L where it is, which takes half the time of zlib, else zlib. */
#include <stddef.h>
#include <stdint.h>

typedef struct wi_inflater wi_inflater;

typedef enum {
    /* All input is used, or the output is full. */
    WI_INFLATE_MORE,
    WI_INFLATE_END,
    WI_INFLATE_CORRUPT,
    WI_INFLATE_NO_MEMORY,
} wi_inflate_state;

/* NULL without memory. `plain`: with zlib in any case. */
wi_inflater *wi_inflater_create(int plain);
void wi_inflater_destroy(wi_inflater *i);

/* Takes of `*bytes` what it can, and writes behind `*output`; both move on, and both counts become what is left.
   The checksum at the stream's end is not looked at: every chunk has one over the same data, packed. */
wi_inflate_state wi_inflate(
    wi_inflater *i, const uint8_t **bytes, size_t *count, uint8_t **output, size_t *room);

/* What is wrong, after WI_INFLATE_CORRUPT. */
const char *wi_inflater_message(const wi_inflater *i);

/* CRC-32 as PNG has it, going on from `sum`; 0 at first. */
uint32_t wi_png_crc(uint32_t sum, const uint8_t *bytes, size_t count);
