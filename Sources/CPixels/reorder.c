// Turning and mirroring: the same loop for both pixel sizes.
#include "CPixels.h"

enum { WI_TILE = 32 };

// If pixels of a row stay next to each other, whole rows are read; otherwise tiles of both pictures that fit the cache.
#define WI_REORDER(name, type)                                                                              \
    void name(                                                                                              \
        type *output, size_t width, size_t height, const type *input, ptrdiff_t x_step, ptrdiff_t y_step) { \
        const size_t across = x_step == 1 || x_step == -1 ? width : WI_TILE;                                \
        for (size_t top = 0; top < height; top += WI_TILE) {                                                \
            size_t bottom = height - top < WI_TILE ? height : top + WI_TILE;                                \
            for (size_t left = 0; left < width; left += across) {                                           \
                size_t right = width - left < across ? width : left + across;                               \
                for (size_t y = top; y < bottom; y++) {                                                     \
                    const type *from = input + (ptrdiff_t)y * y_step;                                       \
                    type *to = output + y * width;                                                          \
                    for (size_t x = left; x < right; x++) to[x] = from[(ptrdiff_t)x * x_step];              \
                }                                                                                           \
            }                                                                                               \
        }                                                                                                   \
    }

WI_REORDER(wi_reorder_32, uint32_t)
WI_REORDER(wi_reorder_64, uint64_t)
