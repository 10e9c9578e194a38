#pragma once
/* The rows of a PNG that is RGB or RGBA of 8 bits and not interlaced.

   libpng as distributions build it undoes its filters byte by byte on x86, which takes as long as inflating the data. Here
   that is done for all channels of a pixel at once. zlib inflates, as it does for libpng, and libpng reads all the rest of
   such a file, with an empty stream in the place of the data. */
#include <stddef.h>
#include <stdint.h>

struct wi_png_reader;
typedef struct wi_plain_rows wi_plain_rows;

/* NULL without memory. */
wi_plain_rows *wi_plain_create(uint32_t width, uint32_t height, int channels);
void wi_plain_destroy(wi_plain_rows *p);

/* The length and name of a chunk of data. */
void wi_plain_begin_chunk(wi_plain_rows *p, const uint8_t *header);
/* Contents and checksum of a chunk; WI_PNG_OK or a failure. */
int wi_plain_push(wi_plain_rows *p, struct wi_png_reader *r, const uint8_t *bytes, size_t count);

/* Undoes a row's filter (PNG specification, section 9): `raw` has its kind and its bytes, `above` the row before it as RGBA,
   and `row` becomes RGBA. `raw` has a byte behind it that may be read. 0 for a filter that there is none of. */
int wi_plain_unfilter(uint8_t *row, const uint8_t *above, const uint8_t *raw, uint32_t width, int channels);
