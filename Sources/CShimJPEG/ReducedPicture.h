#pragma once
/* A JPEG at a half, a quarter or an eighth of its size, by the low frequencies of each block: N x N pixels are the inverse
   DCT of N x N coefficients. That keeps detail which the means of pixels lose, and coefficients of higher frequencies need
   not be known. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include "RowColors.h"

typedef float wi_float4 __attribute__((vector_size(16)));
typedef int32_t wi_int4 __attribute__((vector_size(16)));
typedef uint8_t wi_byte4 __attribute__((vector_size(4)));

/* ITU-T T.81, figure A.6: the position of each coefficient of the file in a block, row by row with 8 in each. */
extern const uint8_t wi_zigzag[64];

typedef struct {
    /* Blocks of a unit (MCU), and pixels of a block, across and down. */
    int columns, rows, width, height;
    /* The last coefficient that affects the result, in the order of the file, and the set of all that do. */
    int last;
    uint64_t shown;
    /* What a value of 1 of a coefficient adds to each pixel of its block, four pixels at a time. NULL before it is made. */
    wi_float4 *basis;
    int quads;
    /* What a value of 1 of the first coefficient adds. */
    float mean_unit;
    /* The pixels of a row of units. */
    uint8_t *plane;
} wi_reduced_component;

typedef struct {
    wi_reduced_component components[4];
    int count;
    /* Converts a row of the components to pixels. */
    wi_row_colors *put_row;
    /* The size of the output; the units across and down; the pixels of a unit; and how many bytes a plane's row has. */
    uint32_t width, height, units, unit_rows, unit_width, unit_height;
    size_t plane_stride;
    /* How many rows of pixels were written, of this row of units and in all. */
    uint32_t row, rows_done;
} wi_reduced_picture;

/* Whether such a picture can be made: it is gray or has three colours or four inks, and the sampling factors of its components
   differ at most by a factor of 2. */
int wi_reduced_picture_takes(const struct jpeg_decompress_struct *c);
/* Makes a picture, without the `basis` of its components. Returns 0 without memory; the picture must be freed then, too. */
int wi_reduced_picture_make(wi_reduced_picture *picture, const struct jpeg_decompress_struct *c, int denominator);
void wi_reduced_picture_free(wi_reduced_picture *picture);
/* Makes a component's `basis`. Returns 0 without memory. */
int wi_reduced_component_begin(wi_reduced_component *component, const JQUANT_TBL *quantizers);
/* Writes the next row: RGBA, or inks as in libjpeg. Returns whether it was the last of its row of units. */
int wi_reduced_picture_write_row(wi_reduced_picture *picture, uint8_t *pixels);

/* Copies rows of pixels, `width` of them in each. */
static inline void wi_put_rows(const uint8_t *pixels, uint8_t *output, size_t stride, int rows, const int width) {
    for (int row = 0; row < rows; row++) memcpy(output + (size_t)row * stride, pixels + row * width, (size_t)width);
}

/* Writes the pixels of a block. */
static inline void
wi_put_block(const wi_reduced_component *c, const wi_float4 *sums, uint8_t *output, size_t stride, const int quads) {
    const wi_float4 least = {0, 0, 0, 0}, most = {255, 255, 255, 255};
    uint8_t pixels[64];
    for (int index = 0; index < quads; index++) {
        wi_float4 sum = __builtin_elementwise_min(__builtin_elementwise_max(sums[index], least), most);
        wi_byte4 bytes = __builtin_convertvector(__builtin_convertvector(sum + 0.5f, wi_int4), wi_byte4);
        memcpy(pixels + 4 * index, &bytes, sizeof bytes);
    }
    switch (c->width) {
    case 1: return wi_put_rows(pixels, output, stride, c->height, 1);
    case 2: return wi_put_rows(pixels, output, stride, c->height, 2);
    case 4: return wi_put_rows(pixels, output, stride, c->height, 4);
    default: return wi_put_rows(pixels, output, stride, c->height, 8);
    }
}

static inline void wi_fill_rows(uint8_t value, uint8_t *output, size_t stride, int rows, const int width) {
    for (int row = 0; row < rows; row++) memset(output + (size_t)row * stride, value, (size_t)width);
}

/* Writes a block of one colour. */
static inline void wi_put_flat(const wi_reduced_component *c, float sum, uint8_t *output, size_t stride) {
    uint8_t value = (uint8_t)((sum < 0 ? 0 : sum > 255 ? 255 : sum) + 0.5f);
    switch (c->width) {
    case 1: return wi_fill_rows(value, output, stride, c->height, 1);
    case 2: return wi_fill_rows(value, output, stride, c->height, 2);
    case 4: return wi_fill_rows(value, output, stride, c->height, 4);
    default: return wi_fill_rows(value, output, stride, c->height, 8);
    }
}
