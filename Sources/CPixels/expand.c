// Pixels of three channels become RGBA.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

typedef uint8_t wi_bytes __attribute__((vector_size(16)));

// `r`, `g` and `b` are where the channels stand in a pixel. Sixteen bytes are read for the twelve of four pixels.
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
