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
    void *context;
    wi_png_next_rows next_rows;

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

/* Gives a row of RGBA to the band that it belongs to. 0 when the caller has no memory for it and stops. */
int wi_png_give_row(wi_png_reader *r, const uint8_t *row, uint32_t number);
