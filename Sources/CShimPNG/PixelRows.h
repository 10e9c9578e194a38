#pragma once
/* Rows of a PNG, as they are stored, become RGBA. */
#include <png.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* RGB or RGBA of 8 bits: the filter's undoing makes RGBA of it. */
    WI_ROWS_COLORS_8,
    /* Gray or places in a palette, of 8 bits or less: each has one of 256 pixels. */
    WI_ROWS_TABLE,
    /* RGB of 8 bits of which one stands for transparency. */
    WI_ROWS_KEYED_8,
    WI_ROWS_GRAY_ALPHA_8,
    /* Any kind of 16 bits. */
    WI_ROWS_16,
} wi_rows_kind;

typedef struct {
    wi_rows_kind kind;
    uint32_t width;
    /* As stored. */
    int channels, depth;
    /* Of a pixel as the filters see it, at least 1, and of a row without its filter's number. */
    size_t pixel_bytes, row_bytes;
    /* Whether 16 bits stay. */
    int is_wide;
    /* Of 16 bits, or keyed: the colour that is transparent. */
    int has_key;
    uint16_t key[3];
    /* RGBA as it lies in memory. */
    uint8_t table[256][4];
} wi_pixel_rows;

/* Plans for what the header says: `is_wide` for rows with 16 bits a channel. */
void wi_pixel_rows_plan(wi_pixel_rows *rows, png_structp png, png_infop info, int is_wide);
/* Makes RGBA of a row whose filter is undone; not for WI_ROWS_COLORS_8. */
void wi_pixel_rows_expand(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out);
