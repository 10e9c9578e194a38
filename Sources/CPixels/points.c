// Operations that compute each pixel from that pixel alone. They work on runs of pixels that fit the first-level cache, with a
// plane for each channel, so that a compiler processes eight pixels at a time. Several operations are applied before a run is
// stored.
#include "CPixels.h"
#include <math.h>
#include <string.h>
#include "clones.h"
#include "planes.h"

WI_INLINE float wi_unit(float value) {
    /* NaN becomes 0, too. */
    value = value > 0 ? value : 0;
    return value < 1 ? value : 1;
}

// MARK: runs in and out

// Pixels are loaded as words, which a compiler unpacks eight at a time; single bytes it would read one by one.
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

// Divides the colours of premultiplied pixels by alpha; those of invisible pixels become black.
WI_INLINE void wi_divide(wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float scale = run->a[i] > 0 ? 1 / run->a[i] : 0;
        run->r[i] = wi_unit(run->r[i] * scale);
        run->g[i] = wi_unit(run->g[i] * scale);
        run->b[i] = wi_unit(run->b[i] * scale);
    }
}

// The colours of invisible pixels must not become visible, so that they are set to black.
WI_INLINE void wi_blacken_invisible(wi_planes *restrict run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float seen = run->a[i] > 0 ? 1 : 0;
        run->r[i] *= seen;
        run->g[i] *= seen;
        run->b[i] *= seen;
    }
}

WI_INLINE void wi_settle(wi_planes *restrict run, size_t count, wi_run_alpha alpha) {
    if (alpha == WI_RUN_PREMULTIPLIED) wi_divide(run, count);
    if (alpha == WI_RUN_STRAIGHT) wi_blacken_invisible(run, count);
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

// Interpolates between four corners of the cell in which a colour lies: the corners on the path from the darkest to the brightest
// one that goes along the largest component first.
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

WI_INLINE float wi_on_curve(float value, const float *restrict curve, size_t points) {
    float place = wi_unit(value) * (float)(points - 1);
    int32_t before = (int32_t)place;
    if (before > (int32_t)points - 2) before = (int32_t)points - 2;
    float low = curve[4 * before], high = curve[4 * before + 4];
    return wi_unit(low + (high - low) * (place - (float)before));
}

WI_CLONES_FMA
void wi_run_curves(wi_planes *restrict run, size_t count, const float *restrict curves, size_t points, float amount) {
    for (size_t i = 0; i < count; i++) {
        run->r[i] += (wi_on_curve(run->r[i], curves, points) - run->r[i]) * amount;
        run->g[i] += (wi_on_curve(run->g[i], curves + 1, points) - run->g[i]) * amount;
        run->b[i] += (wi_on_curve(run->b[i], curves + 2, points) - run->b[i]) * amount;
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

WI_CLONES_FMA
void wi_run_blacken_invisible(wi_planes *restrict run, size_t count) { wi_blacken_invisible(run, count); }

// MARK: sharpening

WI_CLONES_FMA
void wi_sharpen_row(
    float *restrict output, const float *restrict sharp, const float *restrict blurred, size_t width, float amount,
    float threshold) {
    for (size_t x = 0; x < width; x++) {
        // Colours are compared at the same alpha, so that a picture of one colour is not changed where it becomes transparent.
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
    // The products fit in 16 bits because `amount` is at most 1.
    const int16_t factor = (int16_t)(amount * 128 + 0.5f);
    for (size_t i = 0; i < 4 * width; i++) {
        int16_t change = (int16_t)((int16_t)(sharp[i] - blurred[i]) * factor + 64);
        int16_t value = (int16_t)(sharp[i] + (change >> 7));
        value = value < 0 ? 0 : value;
        output[i] = (uint8_t)(value > 255 ? 255 : value);
    }
}
