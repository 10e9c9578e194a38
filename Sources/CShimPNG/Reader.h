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
    /* Whether zlib inflates also where something faster is there. */
    int uses_zlib;
    void *context;
    wi_png_next_rows next_rows;
    wi_png_together together;

    wi_png_info header;
    int has_header;
    int at_end;
    int has_all_rows;
    int pass;

    /* Where the rows go: of a band, or of a whole interlaced picture. */
    uint8_t *rows;
    size_t stride;
    uint32_t first, count, written;

    /* Reads the rows in libpng's place; NULL where libpng does. */
    wi_plain_rows *plain;
    int has_data;
};

/* Whether the band at hand has a place for a row; else the next one is asked for, and this one is no longer ours. */
int wi_png_has_place(const wi_png_reader *r, uint32_t number);
/* Where the row `number` goes, and how many rows there is room for from there on. NULL when the caller has no memory for it
   and stops. */
uint8_t *wi_png_place(wi_png_reader *r, uint32_t number, uint32_t *room);
/* All rows before `number` are written. */
void wi_png_filled(wi_png_reader *r, uint32_t number);
