// Operations that make each pixel of itself alone. They work on runs of pixels that fit the first-level cache, a plane for each
// channel, so that a compiler takes eight pixels at a time; several of them follow each other before a run is stored.
#include "CPixels.h"
#include <math.h>
#include <string.h>
#include "clones.h"
#include "planes.h"

WI_INLINE float wi_unit(float value) {
    /* 0 for what is no number, too. */
    value = value > 0 ? value : 0;
    return value < 1 ? value : 1;
}

// MARK: runs in and out

// Whole pixels as words, which a compiler takes apart eight at a time; it reads single bytes one by one.
WI_INLINE uint32_t wi_word(const uint8_t *pixel) {
    uint32_t word;
    memcpy(&word, pixel, 4);
    return word;
}

WI_INLINE uint64_t wi_long(const uint16_t *pixel) {
    uint64_t word;
    memcpy(&word, pixel, 8);
    return word;
}

// Colours of premultiplied pixels; those of pixels that cannot be seen become black.
WI_INLINE void wi_divide(wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float scale = run->a[i] > 0 ? 1 / run->a[i] : 0;
        run->r[i] = wi_unit(run->r[i] * scale);
        run->g[i] = wi_unit(run->g[i] * scale);
        run->b[i] = wi_unit(run->b[i] * scale);
    }
}

// The colours of pixels that cannot be seen must not come to light: they become black.
WI_INLINE void wi_forget(wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float seen = run->a[i] > 0 ? 1 : 0;
        run->r[i] *= seen;
        run->g[i] *= seen;
        run->b[i] *= seen;
    }
}

WI_INLINE void wi_settle(wi_planes *restrict run, size_t count, wi_run_alpha alpha) {
    if (alpha == WI_RUN_PREMULTIPLIED) wi_divide(run, count);
    if (alpha == WI_RUN_STRAIGHT) wi_forget(run, count);
    if (alpha == WI_RUN_OPAQUE) {
        for (size_t i = 0; i < count; i++) run->a[i] = 1;
    }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "red is the lowest part of a pixel's word");

WI_CLONES_FMA
void wi_load_run_8(wi_planes *restrict run, const uint8_t *restrict pixels, size_t count, wi_run_alpha alpha) {
    const float unit = 1.0f / 255.0f;
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = wi_word(pixels + 4 * i);
        run->r[i] = (float)(int32_t)(pixel & 255) * unit;
        run->g[i] = (float)(int32_t)(pixel >> 8 & 255) * unit;
        run->b[i] = (float)(int32_t)(pixel >> 16 & 255) * unit;
        run->a[i] = (float)(int32_t)(pixel >> 24) * unit;
    }
    wi_settle(run, count, alpha);
}

WI_CLONES_FMA
void wi_load_run_16(wi_planes *restrict run, const uint16_t *restrict pixels, size_t count, wi_run_alpha alpha) {
    const float unit = 1.0f / 65535.0f;
    for (size_t i = 0; i < count; i++) {
        uint64_t pixel = wi_long(pixels + 4 * i);
        run->r[i] = (float)(int32_t)(pixel & 65535) * unit;
        run->g[i] = (float)(int32_t)(pixel >> 16 & 65535) * unit;
        run->b[i] = (float)(int32_t)(pixel >> 32 & 65535) * unit;
        run->a[i] = (float)(int32_t)(pixel >> 48) * unit;
    }
    wi_settle(run, count, alpha);
}

WI_CLONES_FMA
void wi_load_run_float(wi_planes *restrict run, const float *restrict pixels, size_t count, wi_run_alpha alpha) {
    for (size_t i = 0; i < count; i++) {
        run->r[i] = pixels[4 * i];
        run->g[i] = pixels[4 * i + 1];
        run->b[i] = pixels[4 * i + 2];
        run->a[i] = pixels[4 * i + 3];
    }
    wi_settle(run, count, alpha);
}

WI_INLINE uint32_t wi_level(float value, float top) { return (uint32_t)(int32_t)(wi_unit(value) * top + 0.5f); }

WI_CLONES_FMA
void wi_store_run_8(uint8_t *restrict pixels, const wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = wi_level(run->r[i], 255) | wi_level(run->g[i], 255) << 8 | wi_level(run->b[i], 255) << 16 |
                         wi_level(run->a[i], 255) << 24;
        memcpy(pixels + 4 * i, &pixel, 4);
    }
}

WI_CLONES_FMA
void wi_store_run_16(uint16_t *restrict pixels, const wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t pixel = (uint64_t)wi_level(run->r[i], 65535) | (uint64_t)wi_level(run->g[i], 65535) << 16 |
                         (uint64_t)wi_level(run->b[i], 65535) << 32 | (uint64_t)wi_level(run->a[i], 65535) << 48;
        memcpy(pixels + 4 * i, &pixel, 8);
    }
}

WI_CLONES_FMA
void wi_store_run_float(float *restrict pixels, const wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float alpha = wi_unit(run->a[i]);
        pixels[4 * i] = wi_unit(run->r[i]) * alpha;
        pixels[4 * i + 1] = wi_unit(run->g[i]) * alpha;
        pixels[4 * i + 2] = wi_unit(run->b[i]) * alpha;
        pixels[4 * i + 3] = alpha;
    }
}

// MARK: colours

WI_CLONES_FMA
void wi_run_matrix_alpha(wi_planes *restrict run, size_t count, const float *m) {
    for (size_t i = 0; i < count; i++) {
        float r = run->r[i], g = run->g[i], b = run->b[i], a = run->a[i];
        run->r[i] = wi_unit(m[0] * r + m[1] * g + m[2] * b + m[3] * a + m[4]);
        run->g[i] = wi_unit(m[5] * r + m[6] * g + m[7] * b + m[8] * a + m[9]);
        run->b[i] = wi_unit(m[10] * r + m[11] * g + m[12] * b + m[13] * a + m[14]);
        run->a[i] = wi_unit(m[15] * r + m[16] * g + m[17] * b + m[18] * a + m[19]);
    }
}

// Between four corners of the cell in which a colour lies: those on the way from the darkest to the brightest, in the order
// of the colour's parts.
WI_CLONES_FMA
void wi_run_cube(wi_planes *restrict run, size_t count, const float *restrict cube, size_t side, float amount) {
    const float cells = (float)(side - 1);
    const int32_t green_step = (int32_t)side * 4, blue_step = (int32_t)(side * side) * 4;
    for (size_t i = 0; i < count; i++) {
        float place[3] = {wi_unit(run->r[i]) * cells, wi_unit(run->g[i]) * cells, wi_unit(run->b[i]) * cells};
        int32_t cell[3];
        float f[3];
        for (int c = 0; c < 3; c++) {
            cell[c] = (int32_t)place[c];
            if (cell[c] > (int32_t)side - 2) cell[c] = (int32_t)side - 2;
            f[c] = place[c] - (float)cell[c];
        }
        const float *low = cube + cell[0] * 4 + cell[1] * green_step + cell[2] * blue_step;
        const float *high = low + 4 + green_step + blue_step;
        int32_t first, second;
        float most, middle, least;
        if (f[0] >= f[1]) {
            if (f[1] >= f[2]) { first = 4; second = 4 + green_step; most = f[0]; middle = f[1]; least = f[2]; }
            else if (f[0] >= f[2]) { first = 4; second = 4 + blue_step; most = f[0]; middle = f[2]; least = f[1]; }
            else { first = blue_step; second = blue_step + 4; most = f[2]; middle = f[0]; least = f[1]; }
        } else {
            if (f[0] >= f[2]) { first = green_step; second = green_step + 4; most = f[1]; middle = f[0]; least = f[2]; }
            else if (f[1] >= f[2]) { first = green_step; second = green_step + blue_step; most = f[1]; middle = f[2]; least = f[0]; }
            else { first = blue_step; second = blue_step + green_step; most = f[2]; middle = f[1]; least = f[0]; }
        }
        float color[3];
        for (int c = 0; c < 3; c++) {
            color[c] = low[c] * (1 - most) + low[first + c] * (most - middle) + low[second + c] * (middle - least) +
                       high[c] * least;
        }
        run->r[i] += (wi_unit(color[0]) - run->r[i]) * amount;
        run->g[i] += (wi_unit(color[1]) - run->g[i]) * amount;
        run->b[i] += (wi_unit(color[2]) - run->b[i]) * amount;
    }
}

WI_CLONES_FMA
void wi_run_mix(wi_planes *restrict run, size_t count, const float *restrict amounts, const float *color) {
    for (size_t i = 0; i < count; i++) {
        run->r[i] += (color[0] - run->r[i]) * amounts[i];
        run->g[i] += (color[1] - run->g[i]) * amounts[i];
        run->b[i] += (color[2] - run->b[i]) * amounts[i];
    }
}

WI_CLONES_FMA
void wi_run_coverage(wi_planes *restrict run, size_t count, const float *restrict coverage) {
    for (size_t i = 0; i < count; i++) run->a[i] *= coverage[i];
}

// MARK: blending (W3C Compositing and Blending Level 1; the four that know the whole colour are in section 5.8.2)

WI_INLINE float wi_least(float x, float y) { return x < y ? x : y; }
WI_INLINE float wi_most(float x, float y) { return x > y ? x : y; }

WI_INLINE float wi_screen(float b, float s) { return b + s - b * s; }
WI_INLINE float wi_hard_light(float b, float s) { return s <= 0.5f ? b * 2 * s : wi_screen(b, 2 * s - 1); }
// Black and white are exceptions below, which a rounding error on the way must not miss.
enum { WI_STEPS_TO_WHITE = 1000000 };
WI_INLINE int wi_is_black(float value) { return value * WI_STEPS_TO_WHITE <= 1; }
WI_INLINE int wi_is_white(float value) { return wi_is_black(1 - value); }
WI_INLINE float wi_color_dodge(float b, float s) {
    return wi_is_black(b) ? 0 : wi_is_white(s) ? 1 : wi_least(1, b / (1 - s));
}
WI_INLINE float wi_color_burn(float b, float s) {
    return wi_is_white(b) ? 1 : wi_is_black(s) ? 0 : 1 - wi_least(1, (1 - b) / s);
}
WI_INLINE float wi_soft_light(float b, float s) {
    float d = b <= 0.25f ? ((16 * b - 12) * b + 4) * b : sqrtf(b);
    return s <= 0.5f ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b);
}

// `blended` is the mode's function of backdrop `b` and source `s`; what lies over no backdrop is the source itself.
#define WI_SEPARABLE(name, blended)                                                                        \
    WI_INLINE float name##_channel(float b, float s) { return blended; }                                   \
    WI_CLONES_FMA                                                                                          \
    static void name(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {               \
        for (size_t i = 0; i < count; i++) {                                                               \
            float as = top->a[i], ab = run->a[i];                                                          \
            float whole = as + ab - as * ab, scale = whole > 0 ? 1 / whole : 0;                            \
            float alone = as * (1 - ab) * scale, both = as * ab * scale, below = (1 - as) * ab * scale;    \
            run->r[i] = alone * top->r[i] + both * name##_channel(run->r[i], top->r[i]) + below * run->r[i]; \
            run->g[i] = alone * top->g[i] + both * name##_channel(run->g[i], top->g[i]) + below * run->g[i]; \
            run->b[i] = alone * top->b[i] + both * name##_channel(run->b[i], top->b[i]) + below * run->b[i]; \
            run->a[i] = whole;                                                                             \
        }                                                                                                  \
    }

WI_SEPARABLE(wi_blend_normal, ((void)b, s))
WI_SEPARABLE(wi_blend_multiply, b *s)
WI_SEPARABLE(wi_blend_screen, wi_screen(b, s))
WI_SEPARABLE(wi_blend_overlay, wi_hard_light(s, b))
WI_SEPARABLE(wi_blend_darken, wi_least(b, s))
WI_SEPARABLE(wi_blend_lighten, wi_most(b, s))
WI_SEPARABLE(wi_blend_color_dodge, wi_color_dodge(b, s))
WI_SEPARABLE(wi_blend_color_burn, wi_color_burn(b, s))
WI_SEPARABLE(wi_blend_hard_light, wi_hard_light(b, s))
WI_SEPARABLE(wi_blend_soft_light, wi_soft_light(b, s))
WI_SEPARABLE(wi_blend_difference, fabsf(b - s))
WI_SEPARABLE(wi_blend_exclusion, b + s - 2 * b * s)

// Porter and Duff: what counts of the source and of the backdrop, by the other's alpha.
#define WI_PORTER_DUFF(name, of_source, of_backdrop)                                         \
    WI_CLONES_FMA                                                                            \
    static void name(wi_planes *restrict run, const wi_planes *restrict top, size_t count) { \
        for (size_t i = 0; i < count; i++) {                                                 \
            float as = top->a[i], ab = run->a[i];                                            \
            float source = as * (of_source), backdrop = ab * (of_backdrop);                  \
            float whole = source + backdrop, scale = whole > 0 ? 1 / whole : 0;              \
            source *= scale, backdrop *= scale;                                              \
            run->r[i] = source * top->r[i] + backdrop * run->r[i];                           \
            run->g[i] = source * top->g[i] + backdrop * run->g[i];                           \
            run->b[i] = source * top->b[i] + backdrop * run->b[i];                           \
            run->a[i] = whole;                                                               \
        }                                                                                    \
    }

WI_PORTER_DUFF(wi_blend_clear, 0, 0)
WI_PORTER_DUFF(wi_blend_source, 1, 0)
WI_PORTER_DUFF(wi_blend_source_in, ab, 0)
WI_PORTER_DUFF(wi_blend_source_out, 1 - ab, 0)
WI_PORTER_DUFF(wi_blend_source_atop, ab, 1 - as)
WI_PORTER_DUFF(wi_blend_destination_over, 1 - ab, 1)
WI_PORTER_DUFF(wi_blend_destination_in, 0, as)
WI_PORTER_DUFF(wi_blend_destination_out, 0, 1 - as)
WI_PORTER_DUFF(wi_blend_destination_atop, 1 - ab, as)
WI_PORTER_DUFF(wi_blend_xor, 1 - ab, 1 - as)

// Sums of premultiplied colours, held at white; the darker one sums what each lacks of white.
WI_CLONES_FMA
static void wi_blend_plus_lighter(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float as = top->a[i], ab = run->a[i], whole = wi_least(1, as + ab), scale = whole > 0 ? 1 / whole : 0;
        run->r[i] = wi_least(whole, as * top->r[i] + ab * run->r[i]) * scale;
        run->g[i] = wi_least(whole, as * top->g[i] + ab * run->g[i]) * scale;
        run->b[i] = wi_least(whole, as * top->b[i] + ab * run->b[i]) * scale;
        run->a[i] = whole;
    }
}

WI_CLONES_FMA
static void wi_blend_plus_darker(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float as = top->a[i], ab = run->a[i], whole = wi_least(1, as + ab), scale = whole > 0 ? 1 / whole : 0;
        run->r[i] = wi_most(0, whole - as * (1 - top->r[i]) - ab * (1 - run->r[i])) * scale;
        run->g[i] = wi_most(0, whole - as * (1 - top->g[i]) - ab * (1 - run->g[i])) * scale;
        run->b[i] = wi_most(0, whole - as * (1 - top->b[i]) - ab * (1 - run->b[i])) * scale;
        run->a[i] = whole;
    }
}

WI_INLINE float wi_luminosity(const float c[3]) { return 0.3f * c[0] + 0.59f * c[1] + 0.11f * c[2]; }

WI_INLINE float wi_saturation(const float c[3]) {
    return wi_most(wi_most(c[0], c[1]), c[2]) - wi_least(wi_least(c[0], c[1]), c[2]);
}

WI_INLINE void wi_set_luminosity(float c[3], float target) {
    float shift = target - wi_luminosity(c);
    for (int k = 0; k < 3; k++) c[k] += shift;
    float low = wi_least(wi_least(c[0], c[1]), c[2]), high = wi_most(wi_most(c[0], c[1]), c[2]);
    for (int k = 0; k < 3; k++) {
        if (low < 0) c[k] = target + (c[k] - target) * target / (target - low);
        if (high > 1) c[k] = target + (c[k] - target) * (1 - target) / (high - target);
    }
}

WI_INLINE void wi_set_saturation(float c[3], float saturation) {
    float low = wi_least(wi_least(c[0], c[1]), c[2]), range = wi_saturation(c);
    for (int k = 0; k < 3; k++) c[k] = range > 0 ? (c[k] - low) * saturation / range : 0;
}

static void wi_blend_whole_color(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode) {
    for (size_t i = 0; i < count; i++) {
        const float backdrop[3] = {run->r[i], run->g[i], run->b[i]};
        const float source[3] = {top->r[i], top->g[i], top->b[i]};
        float c[3];
        for (int k = 0; k < 3; k++) c[k] = mode == WI_BLEND_SATURATION || mode == WI_BLEND_LUMINOSITY ? backdrop[k] : source[k];
        if (mode == WI_BLEND_HUE) wi_set_saturation(c, wi_saturation(backdrop));
        if (mode == WI_BLEND_SATURATION) wi_set_saturation(c, wi_saturation(source));
        wi_set_luminosity(c, wi_luminosity(mode == WI_BLEND_LUMINOSITY ? source : backdrop));
        float as = top->a[i], ab = run->a[i], whole = as + ab - as * ab, scale = whole > 0 ? 1 / whole : 0;
        float mixed[3];
        for (int k = 0; k < 3; k++)
            mixed[k] = (as * (1 - ab) * source[k] + as * ab * c[k] + (1 - as) * ab * backdrop[k]) * scale;
        run->r[i] = mixed[0];
        run->g[i] = mixed[1];
        run->b[i] = mixed[2];
        run->a[i] = whole;
    }
}

void wi_run_blend(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode) {
    switch (mode) {
    case WI_BLEND_NORMAL: wi_blend_normal(run, top, count); break;
    case WI_BLEND_MULTIPLY: wi_blend_multiply(run, top, count); break;
    case WI_BLEND_SCREEN: wi_blend_screen(run, top, count); break;
    case WI_BLEND_OVERLAY: wi_blend_overlay(run, top, count); break;
    case WI_BLEND_DARKEN: wi_blend_darken(run, top, count); break;
    case WI_BLEND_LIGHTEN: wi_blend_lighten(run, top, count); break;
    case WI_BLEND_COLOR_DODGE: wi_blend_color_dodge(run, top, count); break;
    case WI_BLEND_COLOR_BURN: wi_blend_color_burn(run, top, count); break;
    case WI_BLEND_SOFT_LIGHT: wi_blend_soft_light(run, top, count); break;
    case WI_BLEND_HARD_LIGHT: wi_blend_hard_light(run, top, count); break;
    case WI_BLEND_DIFFERENCE: wi_blend_difference(run, top, count); break;
    case WI_BLEND_EXCLUSION: wi_blend_exclusion(run, top, count); break;
    case WI_BLEND_HUE:
    case WI_BLEND_SATURATION:
    case WI_BLEND_COLOR:
    case WI_BLEND_LUMINOSITY: wi_blend_whole_color(run, top, count, mode); break;
    case WI_BLEND_CLEAR: wi_blend_clear(run, top, count); break;
    case WI_BLEND_SOURCE: wi_blend_source(run, top, count); break;
    case WI_BLEND_SOURCE_IN: wi_blend_source_in(run, top, count); break;
    case WI_BLEND_SOURCE_OUT: wi_blend_source_out(run, top, count); break;
    case WI_BLEND_SOURCE_ATOP: wi_blend_source_atop(run, top, count); break;
    case WI_BLEND_DESTINATION_OVER: wi_blend_destination_over(run, top, count); break;
    case WI_BLEND_DESTINATION_IN: wi_blend_destination_in(run, top, count); break;
    case WI_BLEND_DESTINATION_OUT: wi_blend_destination_out(run, top, count); break;
    case WI_BLEND_DESTINATION_ATOP: wi_blend_destination_atop(run, top, count); break;
    case WI_BLEND_XOR: wi_blend_xor(run, top, count); break;
    case WI_BLEND_PLUS_DARKER: wi_blend_plus_darker(run, top, count); break;
    case WI_BLEND_PLUS_LIGHTER: wi_blend_plus_lighter(run, top, count); break;
    }
}

// MARK: sharpening

WI_CLONES_FMA
void wi_sharpen_row(
    float *restrict output, const float *restrict sharp, const float *restrict blurred, size_t width, float amount,
    float threshold) {
    for (size_t x = 0; x < width; x++) {
        // Colours are compared at the same alpha: a picture of one colour stays as it is where it becomes transparent.
        float alpha = sharp[4 * x + 3], around = blurred[4 * x + 3];
        float scale = around > 1e-5f ? alpha / around : 0;
        float used = scale > 0 ? amount : 0;
        for (int c = 0; c < 3; c++) {
            float difference = sharp[4 * x + c] - blurred[4 * x + c] * scale;
            float value = sharp[4 * x + c] + (fabsf(difference) >= threshold * alpha ? difference * used : 0);
            value = value < 0 ? 0 : value;
            output[4 * x + c] = value > alpha ? alpha : value;
        }
        output[4 * x + 3] = alpha;
    }
}

WI_CLONES_FMA
void wi_sharpen_row_8(
    uint8_t *restrict output, const uint8_t *restrict sharp, const uint8_t *restrict blurred, size_t width, float amount) {
    // Within 16 bits as `amount` is at most 1.
    const int16_t factor = (int16_t)(amount * 128 + 0.5f);
    for (size_t i = 0; i < 4 * width; i++) {
        int16_t change = (int16_t)((int16_t)(sharp[i] - blurred[i]) * factor + 64);
        int16_t value = (int16_t)(sharp[i] + (change >> 7));
        value = value < 0 ? 0 : value;
        output[i] = (uint8_t)(value > 255 ? 255 : value);
    }
}
