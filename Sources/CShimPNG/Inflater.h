#pragma once
/* Inflates a zlib stream that comes in pieces: by ISA-L if it is available, which takes half the time of zlib, else by zlib. */
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

/* Returns NULL without memory. `plain`: uses zlib in any case. */
wi_inflater *wi_inflater_create(int plain);
void wi_inflater_destroy(wi_inflater *i);

/* Reads as many of `*bytes` as possible, and writes to `*output`. Both pointers advance, and both counts become what is left. The
   checksum at the stream's end is not checked: the checksums of the chunks cover the same data in compressed form. */
wi_inflate_state wi_inflate(
    wi_inflater *i, const uint8_t **bytes, size_t *count, uint8_t **output, size_t *room);

/* The message about the damage, after WI_INFLATE_CORRUPT. */
const char *wi_inflater_message(const wi_inflater *i);

/* CRC-32 as in PNG, continued from `sum`, which is 0 at first. */
uint32_t wi_png_crc(uint32_t sum, const uint8_t *bytes, size_t count);
