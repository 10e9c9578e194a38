#pragma once
/* What the files of the reader share. */
#include "CShimPNG.h"
#include "PlainRows.h"
#include <png.h>

struct wi_png_reader {
    png_structp png;
    png_infop info;
    int failure;
    char message[256];
    int keeps_16_bit;
    /* Whether zlib inflates even if a faster library is available. */
    int uses_zlib;
    void *context;
    wi_png_next_rows next_rows;
    wi_png_together together;

    wi_png_info header;
    int has_header;
    int at_end;
    int has_all_rows;
    int pass;

    /* The memory of the rows of a band, or of a whole interlaced picture. */
    uint8_t *rows;
    size_t stride;
    uint32_t first, count, written;

    /* Reads the rows in place of libpng; NULL if libpng reads them. */
    wi_plain_rows *plain;
    int has_data;
};

/* Whether the current band has room for a row. If not, the next band is requested, and this one is no longer ours. */
int wi_png_has_place(const wi_png_reader *r, uint32_t number);
/* The memory for the row `number`, and for how many rows there is room from there on. NULL if the caller returned no memory, which
   stops the decode. */
uint8_t *wi_png_place(wi_png_reader *r, uint32_t number, uint32_t *room);
/* Notes that all rows before `number` are written. */
void wi_png_filled(wi_png_reader *r, uint32_t number);
