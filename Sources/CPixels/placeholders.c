// Sums over pictures: cosines for BlurHash and ThumbHash, and colours. The sums of cosines are computed in the order of the
// reference implementations, pixel by pixel from the top. In another order they would be rounded differently, and a digit of a
// hash might differ.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

// A fused multiply-add would round once where the references round twice.
#pragma STDC FP_CONTRACT OFF

typedef float wi_float4 __attribute__((vector_size(16), aligned(4)));
typedef float wi_float8 __attribute__((vector_size(32), aligned(4)));

_Static_assert(WI_COSINES == 16, "a group of cosines is two vectors");

void wi_lighten_row(float *output, const uint8_t *pixels, const float *light, size_t width) {
    for (size_t x = 0; x < width; x++) {
        for (int c = 0; c < 3; c++) output[3 * x + c] = light[pixels[4 * x + c]];
    }
}

WI_CLONES
void wi_add_cosines(float *sums, const float *columns, const float *row, const float *light, size_t width) {
    wi_float8 sum[6], factor[2];
    memcpy(sum, sums, sizeof sum);
    memcpy(factor, row, sizeof factor);
    for (size_t x = 0; x < width; x++) {
        wi_float4 four;
        memcpy(&four, columns + 4 * x, sizeof four);
        wi_float8 column = __builtin_shufflevector(four, four, 0, 1, 2, 3, 0, 1, 2, 3);
        wi_float8 first = column * factor[0], second = column * factor[1];
        float red = light[3 * x], green = light[3 * x + 1], blue = light[3 * x + 2];
        sum[0] += first * red;
        sum[1] += second * red;
        sum[2] += first * green;
        sum[3] += second * green;
        sum[4] += first * blue;
        sum[5] += second * blue;
    }
    memcpy(sums, sum, sizeof sum);
}

void wi_add_cosines_double(double *sums, const double *columns, double row, const double *values, size_t width) {
    double sum[WI_COLUMNS];
    memcpy(sum, sums, sizeof sum);
    for (size_t x = 0; x < width; x++) {
        for (int c = 0; c < WI_COLUMNS; c++) sum[c] += values[x] * columns[WI_COLUMNS * x + c] * row;
    }
    memcpy(sums, sum, sizeof sum);
}

void wi_count_colors(wi_color_sum *bins, const uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixels + 4 * i;
        uint32_t alpha = pixel[3];
        wi_color_sum *bin = bins + ((pixel[0] >> 3) << 10 | (pixel[1] >> 3) << 5 | pixel[2] >> 3);
        bin->red += pixel[0] * alpha;
        bin->green += pixel[1] * alpha;
        bin->blue += pixel[2] * alpha;
        bin->alpha += alpha;
    }
}
