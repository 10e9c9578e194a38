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

static void convert_anywhere(const uint8_t *const planes[4], uint8_t *restrict rgba, uint32_t count) {
    convert(planes[0], planes[1], planes[2], rgba, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
convert_avx2(const uint8_t *const planes[4], uint8_t *restrict rgba, uint32_t count) {
    convert(planes[0], planes[1], planes[2], rgba, count);
}

wi_row_colors *wi_row_converter(void) { return __builtin_cpu_supports("avx2") ? convert_avx2 : convert_anywhere; }
#else
wi_row_colors *wi_row_converter(void) { return convert_anywhere; }
#endif

void wi_row_merged(const uint8_t *const planes[4], uint8_t *restrict rgba, uint32_t count) {
    const uint8_t *red = planes[0], *green = planes[1], *blue = planes[2];
    for (uint32_t x = 0; x < count; x++) {
        rgba[4 * x] = red[x];
        rgba[4 * x + 1] = green[x];
        rgba[4 * x + 2] = blue[x];
        rgba[4 * x + 3] = 255;
    }
}

void wi_row_inks(const uint8_t *const planes[4], uint8_t *restrict inks, uint32_t count) {
    wi_row_merged(planes, inks, count);
    for (uint32_t x = 0; x < count; x++) inks[4 * x + 3] = planes[3][x];
}

void wi_row_converted_inks(const uint8_t *const planes[4], uint8_t *restrict inks, uint32_t count) {
    wi_row_converter()(planes, inks, count);
    for (uint32_t x = 0; x < count; x++) {
        for (int ink = 0; ink < 3; ink++) inks[4 * x + ink] = (uint8_t)(255 - inks[4 * x + ink]);
        inks[4 * x + 3] = planes[3][x];
    }
}
