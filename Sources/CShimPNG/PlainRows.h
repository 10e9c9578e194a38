#pragma once
/* The rows of a PNG that is not interlaced.

   libpng as distributions build it undoes its filters byte by byte on x86, which takes as long as inflating the data, and
   inflates by zlib. Here both are done faster, and libpng reads all the rest of such a file, with an empty stream in the
   place of the data. */
#include <stddef.h>
#include <stdint.h>

struct wi_png_reader;
typedef struct wi_plain_rows wi_plain_rows;

/* Makes an object for the picture whose header the reader has read. NULL without memory. */
wi_plain_rows *wi_plain_create(struct wi_png_reader *r);
void wi_plain_destroy(wi_plain_rows *p);

/* Takes the length and name of a chunk of data. */
void wi_plain_begin_chunk(wi_plain_rows *p, const uint8_t *header);
/* Takes contents and checksum of a chunk. Returns WI_PNG_OK or a failure. */
int wi_plain_push(wi_plain_rows *p, struct wi_png_reader *r, const uint8_t *bytes, size_t count);
/* Passes on all rows whose bytes have arrived. The bytes that were pushed may be released afterwards. */
int wi_plain_flush(wi_plain_rows *p, struct wi_png_reader *r);
