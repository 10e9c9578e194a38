#pragma once
/* Converts rows of a PNG as they are stored to RGBA. */
#include <png.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* RGB or RGBA of 8 bits: undoing the filter converts it to RGBA. */
    WI_ROWS_COLORS_8,
    /* Gray, or indices into a palette, of 8 bits or less: each value has one of 256 pixels. */
    WI_ROWS_TABLE,
    /* RGB of 8 bits with one colour that means transparency. */
    WI_ROWS_KEYED_8,
    WI_ROWS_GRAY_ALPHA_8,
    /* Any kind of 16 bits. */
    WI_ROWS_16,
} wi_rows_kind;

typedef struct {
    wi_rows_kind kind;
    uint32_t width;
    /* The numbers of channels and of bits as stored. */
    int channels, depth;
    /* The bytes of a pixel as the filters see it, at least 1, and of a row without its filter type. */
    size_t pixel_bytes, row_bytes;
    /* Whether 16 bits are kept. */
    int is_wide;
    /* For rows of 16 bits and keyed ones: whether a colour is transparent, and which. */
    int has_key;
    uint16_t key[3];
    /* The pixel of each value, RGBA in the order of memory. */
    uint8_t table[256][4];
} wi_pixel_rows;

/* Fills in `rows` from the header. `is_wide`: for rows with 16 bits a channel. */
void wi_pixel_rows_plan(wi_pixel_rows *rows, png_structp png, png_infop info, int is_wide);
/* Converts a row whose filter is undone to RGBA; not for WI_ROWS_COLORS_8. */
void wi_pixel_rows_expand(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out);
