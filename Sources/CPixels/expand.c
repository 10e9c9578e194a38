// Expands pixels of three channels to RGBA, and sums differences of neighbouring pixels.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

typedef uint8_t wi_bytes __attribute__((vector_size(16)));

// `r`, `g` and `b` are the positions of the channels in a pixel. Sixteen bytes are read for four pixels, which have twelve.
#define WI_EXPAND(name, r, g, b)                                                               \
    WI_CLONES                                                                                  \
    void name(uint8_t *output, const uint8_t *input, size_t count) {                           \
        const wi_bytes opaque = {0, 0, 0, 255};                                                \
        for (; count >= 6; count -= 4, input += 12, output += 16) {                            \
            wi_bytes pixels;                                                                   \
            memcpy(&pixels, input, sizeof pixels);                                             \
            pixels = __builtin_shufflevector(                                                  \
                pixels, opaque, r, g, b, 19, 3 + r, 3 + g, 3 + b, 19, 6 + r, 6 + g, 6 + b, 19, \
                9 + r, 9 + g, 9 + b, 19);                                                      \
            memcpy(output, &pixels, sizeof pixels);                                            \
        }                                                                                      \
        for (; count > 0; count--, input += 3, output += 4) {                                  \
            output[0] = input[r];                                                              \
            output[1] = input[g];                                                              \
            output[2] = input[b];                                                              \
            output[3] = 255;                                                                   \
        }                                                                                      \
    }

WI_EXPAND(wi_expand_rgb, 0, 1, 2)
WI_EXPAND(wi_expand_bgr, 2, 1, 0)

// Sums of differences: four pixels are summed in two steps, and the last sum is added to the next four.

#define WI_SUM(sums, before)                                                                           \
    const wi_bytes zero = {0};                                                                         \
    sums += __builtin_shufflevector(zero, sums, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27); \
    sums += __builtin_shufflevector(zero, sums, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23);     \
    sums += before;                                                                                    \
    before = __builtin_shufflevector(sums, sums, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15)

WI_CLONES
void wi_sum_rgb(uint8_t *output, const uint8_t *input, size_t count) {
    const wi_bytes opaque = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    wi_bytes before = {0};
    for (; count >= 6; count -= 4, input += 12, output += 16) {
        wi_bytes sums;
        memcpy(&sums, input, sizeof sums);
        sums = __builtin_shufflevector(sums, opaque, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
        WI_SUM(sums, before);
        sums |= opaque;
        memcpy(output, &sums, sizeof sums);
    }
    for (; count > 0; count--, input += 3, output += 4) {
        for (int c = 0; c < 3; c++) output[c] = before[c] += input[c];
        output[3] = 255;
    }
}

WI_CLONES
void wi_sum_rgba(uint8_t *output, const uint8_t *input, size_t count) {
    wi_bytes before = {0};
    for (; count >= 4; count -= 4, input += 16, output += 16) {
        wi_bytes sums;
        memcpy(&sums, input, sizeof sums);
        WI_SUM(sums, before);
        memcpy(output, &sums, sizeof sums);
    }
    for (; count > 0; count--, input += 4, output += 4) {
        for (int c = 0; c < 4; c++) output[c] = before[c] += input[c];
    }
}
