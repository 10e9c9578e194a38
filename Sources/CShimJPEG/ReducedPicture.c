#include "ReducedPicture.h"
#include <math.h>
#include <stdlib.h>

/* Makes the sums the same on every machine. */
#pragma clang fp contract(off)

const uint8_t wi_zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Whether a component's sampling factor is the largest one, or half of it. */
static int fits(int factor, int largest) { return factor > 0 && largest % factor == 0 && largest <= 2 * factor; }

int wi_reduced_picture_takes(const struct jpeg_decompress_struct *c) {
    if (c->arith_code || c->data_precision != 8) return 0;
    if (c->jpeg_color_space == JCS_GRAYSCALE && c->num_components == 1) return 1;
    int has_colors = c->num_components == 3 && (c->jpeg_color_space == JCS_YCbCr || c->jpeg_color_space == JCS_RGB);
    int has_inks = c->num_components == 4 && (c->jpeg_color_space == JCS_YCCK || c->jpeg_color_space == JCS_CMYK);
    if (!has_colors && !has_inks) return 0;
    for (int index = 0; index < c->num_components; index++) {
        const jpeg_component_info *info = &c->comp_info[index];
        if (!fits(info->h_samp_factor, c->max_h_samp_factor) || !fits(info->v_samp_factor, c->max_v_samp_factor)) return 0;
    }
    return 1;
}

static wi_row_colors *row_colors(J_COLOR_SPACE space) {
    switch (space) {
    case JCS_YCbCr: return wi_row_converter();
    case JCS_YCCK: return wi_row_converted_inks;
    case JCS_CMYK: return wi_row_inks;
    default: return wi_row_merged;
    }
}

static uint32_t divided_up(uint32_t value, uint32_t divisor) { return (value + divisor - 1) / divisor; }

int wi_reduced_picture_make(wi_reduced_picture *p, const struct jpeg_decompress_struct *c, int denominator) {
    int pixels = DCTSIZE / denominator;
    p->count = c->num_components;
    p->put_row = row_colors(c->jpeg_color_space);
    p->width = c->output_width;
    p->height = c->output_height;
    int across = p->count == 1 ? 1 : c->max_h_samp_factor, down = p->count == 1 ? 1 : c->max_v_samp_factor;
    p->unit_width = (uint32_t)(across * pixels);
    p->unit_height = (uint32_t)(down * pixels);
    p->units = divided_up(c->image_width, (uint32_t)(across * DCTSIZE));
    p->unit_rows = divided_up(c->image_height, (uint32_t)(down * DCTSIZE));
    p->plane_stride = (size_t)p->units * p->unit_width;
    for (int index = 0; index < p->count; index++) {
        const jpeg_component_info *info = &c->comp_info[index];
        wi_reduced_component *made = &p->components[index];
        made->columns = p->count == 1 ? 1 : info->h_samp_factor;
        made->rows = p->count == 1 ? 1 : info->v_samp_factor;
        made->width = across / made->columns * pixels;
        made->height = down / made->rows * pixels;
        made->quads = (made->width * made->height + 3) / 4;
        for (int place = 0; place < DCTSIZE2; place++) {
            if ((wi_zigzag[place] & 7) >= made->width || wi_zigzag[place] >> 3 >= made->height) continue;
            made->last = place;
            made->shown |= UINT64_C(1) << place;
        }
        made->plane = calloc(p->unit_height, p->plane_stride);
        if (!made->plane) return 0;
    }
    return 1;
}

void wi_reduced_picture_free(wi_reduced_picture *p) {
    for (int index = 0; index < 4; index++) {
        free(p->components[index].plane);
        free(p->components[index].basis);
    }
}

/* Computes what each frequency adds to each of `count` pixels, which replace 8. */
static void make_waves(float waves[8][8], int count) {
    for (int frequency = 0; frequency < count; frequency++) {
        double scale = frequency == 0 ? sqrt(0.125) : 0.5;
        for (int pixel = 0; pixel < count; pixel++)
            waves[frequency][pixel] = (float)(scale * cos((2 * pixel + 1) * frequency * M_PI / (2 * count)));
    }
}

int wi_reduced_component_begin(wi_reduced_component *c, const JQUANT_TBL *quantizers) {
    float across[8][8], down[8][8];
    make_waves(across, c->width);
    make_waves(down, c->height);
    c->basis = calloc(DCTSIZE2, (size_t)c->quads * sizeof *c->basis);
    if (!c->basis) return 0;
    c->mean_unit = across[0][0] * down[0][0] * (float)quantizers->quantval[0];
    for (int index = 0; index <= c->last; index++) {
        if (!(c->shown >> index & 1)) continue;
        int column = wi_zigzag[index] & 7, row = wi_zigzag[index] >> 3;
        float *pixels = (float *)(c->basis + index * c->quads), unit = (float)quantizers->quantval[wi_zigzag[index]];
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++) *pixels++ = across[column][x] * down[row][y] * unit;
    }
    return 1;
}

int wi_reduced_picture_write_row(wi_reduced_picture *p, uint8_t *pixels) {
    const uint8_t *planes[4];
    /* The one component of a gray picture is red, green and blue. */
    for (int index = 0; index < 4; index++)
        planes[index] = p->components[index < p->count ? index : 0].plane + p->row * p->plane_stride;
    p->put_row(planes, pixels, p->width);
    p->rows_done++;
    if (++p->row < p->unit_height) return 0;
    p->row = 0;
    return 1;
}
