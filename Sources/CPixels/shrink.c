// Means of blocks of pixels, with colours weighted by their alpha. They reduce a translucent picture before a finer filter does
// the rest.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

enum { WI_LANES = 16, WI_BLOCK = 256 };
typedef uint32_t wi_words __attribute__((vector_size(4 * WI_LANES), aligned(4)));
typedef uint16_t wi_halves __attribute__((vector_size(4 * WI_LANES), aligned(4)));

// Sums of columns: colours times alpha, and alpha. With at most 16 rows, a float holds the sum of 16 columns exactly, too.
typedef struct wi_columns {
    uint32_t r[WI_BLOCK], g[WI_BLOCK], b[WI_BLOCK], a[WI_BLOCK];
} wi_columns;

WI_INLINE void wi_sum_columns(wi_columns *sums, const uint8_t *input, size_t stride, size_t rows, size_t count) {
    size_t i = 0;
    for (; i + WI_LANES <= count; i += WI_LANES) {
        wi_words r = {0}, g = {0}, b = {0}, a = {0};
        for (size_t row = 0; row < rows; row++) {
            wi_words pixels;
            memcpy(&pixels, input + row * stride + 4 * i, sizeof pixels);
            wi_words alpha = pixels >> 24, both = alpha | alpha << 16;
            // Each word holds two products of 16 bits.
            wi_words red_blue = (wi_words)((wi_halves)(pixels & 0x00FF00FF) * (wi_halves)both);
            wi_words green = (wi_words)((wi_halves)(pixels >> 8 & 0x000000FF) * (wi_halves)both);
            r += red_blue & 0xFFFF;
            b += red_blue >> 16;
            g += green;
            a += alpha;
        }
        memcpy(sums->r + i, &r, sizeof r);
        memcpy(sums->g + i, &g, sizeof g);
        memcpy(sums->b + i, &b, sizeof b);
        memcpy(sums->a + i, &a, sizeof a);
    }
    for (; i < count; i++) {
        uint32_t r = 0, g = 0, b = 0, a = 0;
        for (size_t row = 0; row < rows; row++) {
            const uint8_t *pixel = input + row * stride + 4 * i;
            r += (uint32_t)pixel[0] * pixel[3];
            g += (uint32_t)pixel[1] * pixel[3];
            b += (uint32_t)pixel[2] * pixel[3];
            a += pixel[3];
        }
        sums->r[i] = r, sums->g[i] = g, sums->b[i] = b, sums->a[i] = a;
    }
}

WI_INLINE uint32_t wi_total(const uint32_t *values, size_t count) {
    uint32_t total = 0;
    for (size_t i = 0; i < count; i++) total += values[i];
    return total;
}

WI_CLONES_WIDE
void wi_shrink_row_8(
    uint8_t *output, const uint8_t *input, size_t stride, size_t rows, size_t width, size_t factor) {
    wi_columns sums;
    size_t block = WI_BLOCK / factor * factor;
    for (size_t x = 0; x < width; x += block) {
        size_t count = width - x < block ? width - x : block;
        wi_sum_columns(&sums, input + 4 * x, stride, rows, count);
        for (size_t from = 0; from < count; from += factor) {
            size_t columns = count - from < factor ? count - from : factor;
            uint32_t alpha = wi_total(sums.a + from, columns);
            float scale = alpha ? 1 / (float)alpha : 0;
            output[0] = (uint8_t)((float)wi_total(sums.r + from, columns) * scale + 0.5f);
            output[1] = (uint8_t)((float)wi_total(sums.g + from, columns) * scale + 0.5f);
            output[2] = (uint8_t)((float)wi_total(sums.b + from, columns) * scale + 0.5f);
            output[3] = (uint8_t)((float)alpha / (float)(columns * rows) + 0.5f);
            output += 4;
        }
    }
}
