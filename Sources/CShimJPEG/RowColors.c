#include "RowColors.h"

static inline uint8_t clamped(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

/* ITU-T T.871, 7, in units of 2^-16. */
static inline __attribute__((always_inline)) void
convert(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *restrict rgba, uint32_t count) {
    for (uint32_t x = 0; x < count; x++) {
        int32_t blue = cb[x] - 128, red = cr[x] - 128, light = (y[x] << 16) + (1 << 15);
        rgba[4 * x] = clamped((light + 91881 * red) >> 16);
        rgba[4 * x + 1] = clamped((light - 22554 * blue - 46802 * red) >> 16);
        rgba[4 * x + 2] = clamped((light + 116130 * blue) >> 16);
        rgba[4 * x + 3] = 255;
    }
}

static void
convert_anywhere(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *restrict rgba, uint32_t count) {
    convert(y, cb, cr, rgba, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
convert_avx2(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *restrict rgba, uint32_t count) {
    convert(y, cb, cr, rgba, count);
}

wi_row_colors *wi_row_converter(void) { return __builtin_cpu_supports("avx2") ? convert_avx2 : convert_anywhere; }
#else
wi_row_colors *wi_row_converter(void) { return convert_anywhere; }
#endif

void wi_row_merged(const uint8_t *red, const uint8_t *green, const uint8_t *blue, uint8_t *restrict rgba, uint32_t count) {
    for (uint32_t x = 0; x < count; x++) {
        rgba[4 * x] = red[x];
        rgba[4 * x + 1] = green[x];
        rgba[4 * x + 2] = blue[x];
        rgba[4 * x + 3] = 255;
    }
}
