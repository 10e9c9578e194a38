// Conversions of alpha and depth. Every result is rounded exactly: to the nearest value, halves up.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

// Computes c * a / 255, rounded to the nearest value, without a division.
WI_INLINE uint8_t wi_times_8(uint32_t c, uint32_t a) {
    uint32_t t = c * a + 128;
    return (uint8_t)((t + (t >> 8)) >> 8);
}

WI_INLINE uint16_t wi_times_16(uint32_t c, uint32_t a) {
    uint32_t t = c * a + 32768;
    return (uint16_t)((t + (t >> 16)) >> 16);
}

WI_CLONES
void wi_premultiply_8(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t alpha = pixels[4 * i + 3];
        for (int c = 0; c < 3; c++) pixels[4 * i + c] = wi_times_8(pixels[4 * i + c], alpha);
    }
}

WI_CLONES
void wi_premultiply_16(uint16_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t alpha = pixels[4 * i + 3];
        for (int c = 0; c < 3; c++) pixels[4 * i + c] = wi_times_16(pixels[4 * i + c], alpha);
    }
}

// For numbers this small, adding a half to the quotient in floating point and rounding it down gives the exact result.
WI_INLINE uint32_t wi_straight_8(uint32_t color, float alpha) {
    float value = (float)(int32_t)(color * 255) / alpha + 0.5f;
    return (uint32_t)(int32_t)(value > 255 ? 255 : value);
}

// Whole pixels are handled as words, so that the compiler processes eight of them at a time.
WI_INLINE uint32_t wi_straight_pixel(uint32_t red, uint32_t green, uint32_t blue, uint32_t alpha) {
    float divisor = (float)(int32_t)(alpha ? alpha : 1);
    uint32_t pixel = wi_straight_8(red, divisor) | wi_straight_8(green, divisor) << 8 |
                     wi_straight_8(blue, divisor) << 16 | alpha << 24;
    return alpha ? pixel : 0;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "red is the lowest byte of a pixel's word");

WI_CLONES
void wi_unpremultiply_8(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, pixels + 4 * i, 4);
        pixel = wi_straight_pixel(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, pixel >> 24);
        memcpy(pixels + 4 * i, &pixel, 4);
    }
}

WI_CLONES
void wi_straighten_argb(uint32_t *restrict output, const uint32_t *restrict input, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = input[i];
        output[i] = wi_straight_pixel(pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255, pixel >> 24);
    }
}

WI_CLONES
void wi_opaque_argb(uint32_t *restrict output, const uint32_t *restrict input, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = input[i];
        output[i] = (pixel >> 16 & 255) | (pixel & 0xFF00) | (pixel & 255) << 16 | 0xFF000000;
    }
}

WI_CLONES
void wi_unpremultiply_16(uint16_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t alpha = pixels[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            double value = pixels[4 * i + c] * 65535.0 / (double)(alpha ? alpha : 1) + 0.5;
            pixels[4 * i + c] = alpha ? (uint16_t)(value > 65535 ? 65535 : value) : 0;
        }
    }
}

WI_CLONES
void wi_flatten_8(uint8_t *pixels, size_t count, const uint8_t *color, int premultiplied) {
    for (size_t i = 0; i < count; i++) {
        uint32_t alpha = pixels[4 * i + 3];
        uint32_t weight = premultiplied ? 255 : alpha;
        for (int c = 0; c < 3; c++) {
            uint32_t t = pixels[4 * i + c] * weight + color[c] * (255 - alpha) + 128;
            t = (t + (t >> 8)) >> 8;
            pixels[4 * i + c] = (uint8_t)(t > 255 ? 255 : t);
        }
        pixels[4 * i + 3] = 255;
    }
}

WI_CLONES
void wi_flatten_16(uint16_t *pixels, size_t count, const uint16_t *color, int premultiplied) {
    for (size_t i = 0; i < count; i++) {
        uint64_t alpha = pixels[4 * i + 3];
        uint64_t weight = premultiplied ? 65535 : alpha;
        for (int c = 0; c < 3; c++) {
            uint64_t t = pixels[4 * i + c] * weight + color[c] * (65535 - alpha) + 32768;
            t = (t + (t >> 16)) >> 16;
            pixels[4 * i + c] = (uint16_t)(t > 65535 ? 65535 : t);
        }
        pixels[4 * i + 3] = 65535;
    }
}

// Functions that check that no pixel `p` deviates. They check a run of pixels at a time, so that the inner loop has no branch, and
// stop after the first run that deviates.
enum { WI_SCAN = 4096 };

#define WI_NONE(name, type, deviation)                               \
    WI_CLONES                                                        \
    int name(const type *pixels, size_t count) {                     \
        for (size_t at = 0; at < count; at += WI_SCAN) {             \
            size_t end = count - at < WI_SCAN ? count : at + WI_SCAN; \
            type any = 0;                                            \
            for (size_t i = at; i < end; i++) {                      \
                const type *p = pixels + 4 * i;                      \
                any |= (type)(deviation);                            \
            }                                                        \
            if (any != 0) return 0;                                  \
        }                                                            \
        return 1;                                                    \
    }

WI_NONE(wi_is_opaque_8, uint8_t, ~p[3])
WI_NONE(wi_is_opaque_16, uint16_t, ~p[3])
WI_NONE(wi_is_gray_8, uint8_t, (p[0] ^ p[1]) | (p[0] ^ p[2]))
WI_NONE(wi_is_gray_16, uint16_t, (p[0] ^ p[1]) | (p[0] ^ p[2]))

WI_CLONES
void wi_narrow(uint8_t *output, const uint16_t *input, size_t count) {
    for (size_t i = 0; i < count; i++) output[i] = (uint8_t)((input[i] * 255u + 32895u) >> 16);
}

WI_CLONES
void wi_widen(uint16_t *output, const uint8_t *input, size_t count) {
    for (size_t i = 0; i < count; i++) output[i] = (uint16_t)(input[i] * 257u);
}

WI_INLINE void lay_over_8(uint8_t *pixels, const uint8_t *above, size_t count) {
    for (size_t i = 0; i < count; i++, pixels += 4, above += 4) {
        uint32_t alpha = above[3];
        if (alpha == 0) continue;
        if (alpha == 255 || pixels[3] == 0) {
            for (int c = 0; c < 4; c++) pixels[c] = above[c];
            continue;
        }
        // The weight of the pixel below, and the sum of both weights, in units of 1 / 255 / 255.
        uint32_t below = pixels[3] * (255 - alpha);
        uint32_t whole = alpha * 255 + below;
        for (int c = 0; c < 3; c++) {
            pixels[c] = (uint8_t)((above[c] * alpha * 255 + pixels[c] * below + whole / 2) / whole);
        }
        pixels[3] = (uint8_t)((whole + 127) / 255);
    }
}

enum { WI_LAID_TOGETHER = 16 };

/* If all pixels of a group are either opaque or invisible, as in a GIF, the opaque ones replace those below. */
WI_CLONES
void wi_lay_over_8(uint8_t *pixels, const uint8_t *above, size_t count) {
    for (; count >= WI_LAID_TOGETHER; count -= WI_LAID_TOGETHER) {
        uint8_t is_between = 0;
        for (int i = 0; i < WI_LAID_TOGETHER; i++) is_between |= (uint8_t)(above[4 * i + 3] + 1) > 1;
        if (is_between) {
            lay_over_8(pixels, above, WI_LAID_TOGETHER);
        } else {
            for (int i = 0; i < WI_LAID_TOGETHER; i++) {
                uint32_t new, old, mask = above[4 * i + 3] ? UINT32_MAX : 0;
                memcpy(&new, above + 4 * i, sizeof new);
                memcpy(&old, pixels + 4 * i, sizeof old);
                old = (new & mask) | (old & ~mask);
                memcpy(pixels + 4 * i, &old, sizeof old);
            }
        }
        pixels += 4 * WI_LAID_TOGETHER;
        above += 4 * WI_LAID_TOGETHER;
    }
    lay_over_8(pixels, above, count);
}
