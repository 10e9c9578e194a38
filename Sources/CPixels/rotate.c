// Rotation by any angle, and the search for margins: both look at pixels around a position.
#include "CPixels.h"
#include <math.h>
#include <string.h>
#include "clones.h"

typedef float wi_pixel __attribute__((vector_size(16), aligned(4)));

// The weights of a Catmull-Rom spline for a position between the second and the third of four pixels.
WI_INLINE wi_pixel wi_cubic(float t) {
    const wi_pixel cube = {-0.5f, 1.5f, -1.5f, 0.5f}, square = {1, -2.5f, 2, -0.5f}, line = {-0.5f, 0, 0.5f, 0}, rest = {0, 1, 0, 0};
    return ((cube * t + square) * t + line) * t + rest;
}

WI_INLINE wi_pixel wi_pixel_at(const void *row, ptrdiff_t x, wi_pixel_kind kind) {
    wi_pixel pixel;
    if (kind == WI_PIXEL_16 || kind == WI_PIXEL_16_STRAIGHT) {
        const uint16_t *p = (const uint16_t *)row + 4 * x;
        pixel = (wi_pixel){p[0], p[1], p[2], p[3]} * (1.0f / 65535.0f);
    } else {
        const uint8_t *p = (const uint8_t *)row + 4 * x;
        pixel = (wi_pixel){p[0], p[1], p[2], p[3]} * (1.0f / 255.0f);
    }
    if (kind == WI_PIXEL_8_STRAIGHT || kind == WI_PIXEL_16_STRAIGHT) {
        float alpha = pixel[3];
        pixel *= (wi_pixel){alpha, alpha, alpha, 1};
    }
    return pixel;
}

typedef float wi_pixels4 __attribute__((vector_size(64), aligned(4)));
typedef uint8_t wi_bytes4 __attribute__((vector_size(16), aligned(1)));
typedef uint16_t wi_shorts4 __attribute__((vector_size(32), aligned(2)));

// Loads four adjacent pixels, premultiplied, in levels of their depth. Vectors are passed by pointer: as arguments they would need
// caller and callee to be compiled for the same processor.
WI_INLINE void wi_four_at(wi_pixels4 *out, const void *row, ptrdiff_t x, wi_pixel_kind kind) {
    int wide = kind == WI_PIXEL_16 || kind == WI_PIXEL_16_STRAIGHT;
    if (wide) *out = __builtin_convertvector(*(const wi_shorts4 *)((const uint16_t *)row + 4 * x), wi_pixels4);
    else *out = __builtin_convertvector(*(const wi_bytes4 *)((const uint8_t *)row + 4 * x), wi_pixels4);
    if (kind == WI_PIXEL_8_STRAIGHT || kind == WI_PIXEL_16_STRAIGHT) {
        const wi_pixels4 ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        wi_pixels4 alpha = *out * (wide ? 1.0f / 65535.0f : 1.0f / 255.0f);
        *out *= __builtin_shufflevector(alpha, ones, 3, 3, 3, 16, 7, 7, 7, 16, 11, 11, 11, 16, 15, 15, 15, 16);
    }
}

// Sums all sixteen pixels, a row of four at a time, if none is beyond an edge.
WI_INLINE void wi_rotate_inside(
    wi_pixel *out, const char *line, ptrdiff_t column, size_t bytes_per_row, wi_pixel_kind kind, const wi_pixel *wx,
    const wi_pixel *wy) {
    const wi_pixels4 across = __builtin_shufflevector(*wx, *wx, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    wi_pixels4 sum = {0};
    for (int r = 0; r < 4; r++, line += bytes_per_row) {
        wi_pixels4 four;
        wi_four_at(&four, line, column, kind);
        sum += four * (across * (*wy)[r]);
    }
    const float unit = kind == WI_PIXEL_16 || kind == WI_PIXEL_16_STRAIGHT ? 1.0f / 65535.0f : 1.0f / 255.0f;
    *out = (__builtin_shufflevector(sum, sum, 0, 1, 2, 3) + __builtin_shufflevector(sum, sum, 4, 5, 6, 7) +
            (__builtin_shufflevector(sum, sum, 8, 9, 10, 11) + __builtin_shufflevector(sum, sum, 12, 13, 14, 15))) * unit;
}

WI_INLINE float wi_held(float value, float top) {
    value = value > 0 ? value : 0;
    return value < top ? value : top;
}

WI_INLINE void wi_rotate_row_of(
    float *output, size_t count, const void *pixels, size_t width, size_t height, size_t bytes_per_row, wi_pixel_kind kind,
    const float *background, double x, double y, double x_step, double y_step) {
    const wi_pixel beyond = {background[0], background[1], background[2], background[3]};
    for (size_t i = 0; i < count; i++) {
        double px = x + x_step * (double)i - 0.5, py = y + y_step * (double)i - 0.5;
        wi_pixel sum = {0, 0, 0, 0};
        // The part of the pixel that the picture covers.
        float covered = 0;
        double fx = floor(px), fy = floor(py);
        if (fx >= -2 && fy >= -2 && fx <= (double)width && fy <= (double)height) {
            ptrdiff_t column = (ptrdiff_t)fx - 1, row = (ptrdiff_t)fy - 1;
            wi_pixel wx = wi_cubic((float)(px - fx)), wy = wi_cubic((float)(py - fy));
            int is_inside = column >= 0 && column + 3 < (ptrdiff_t)width && row >= 0 && row + 3 < (ptrdiff_t)height;
            if (is_inside) {
                const char *line = (const char *)pixels + (size_t)row * bytes_per_row;
                wi_rotate_inside(&sum, line, column, bytes_per_row, kind, &wx, &wy);
                covered = 1;
            }
            for (ptrdiff_t r = 0; r < 4 && !is_inside; r++) {
                if (row + r < 0 || row + r >= (ptrdiff_t)height) continue;
                const void *line = (const char *)pixels + (size_t)(row + r) * bytes_per_row;
                wi_pixel across = {0, 0, 0, 0};
                float columns = 0;
                for (ptrdiff_t c = 0; c < 4; c++) {
                    if (column + c < 0 || column + c >= (ptrdiff_t)width) continue;
                    across += wi_pixel_at(line, column + c, kind) * wx[c];
                    columns += wx[c];
                }
                sum += across * wy[r];
                covered += columns * wy[r];
            }
        }
        // The spline can exceed the values that it interpolates. Where alpha does, the colours do as much: without the
        // division there would be a bright line along the border of the picture.
        float alpha = wi_held(sum[3], 1), fit = sum[3] > 1 ? 1 / sum[3] : 1;
        wi_pixel held = {
            wi_held(sum[0] * fit, alpha), wi_held(sum[1] * fit, alpha), wi_held(sum[2] * fit, alpha), alpha};
        covered = wi_held(covered, 1);
        *(wi_pixel *)(output + 4 * i) = held + beyond * (1 - (covered > alpha ? covered : alpha));
    }
}

WI_CLONES_WIDE
void wi_rotate_row(
    float *output, size_t count, const void *pixels, size_t width, size_t height, size_t bytes_per_row, wi_pixel_kind kind,
    const float *background, double x, double y, double x_step, double y_step) {
    // Each kind gets a loop of its own, in which the kind is a constant.
    switch (kind) {
    case WI_PIXEL_8:
        wi_rotate_row_of(
            output, count, pixels, width, height, bytes_per_row, WI_PIXEL_8, background, x, y, x_step, y_step);
        break;
    case WI_PIXEL_8_STRAIGHT:
        wi_rotate_row_of(
            output, count, pixels, width, height, bytes_per_row, WI_PIXEL_8_STRAIGHT, background, x, y, x_step, y_step);
        break;
    case WI_PIXEL_16:
        wi_rotate_row_of(
            output, count, pixels, width, height, bytes_per_row, WI_PIXEL_16, background, x, y, x_step, y_step);
        break;
    default:
        wi_rotate_row_of(
            output, count, pixels, width, height, bytes_per_row, WI_PIXEL_16_STRAIGHT, background, x, y, x_step, y_step);
        break;
    }
}

WI_INLINE uint8_t wi_low(uint8_t a, uint8_t b) { return a < b ? a : b; }
WI_INLINE uint8_t wi_high(uint8_t a, uint8_t b) { return a > b ? a : b; }
#define WI_SORT(a, b)                  \
    do {                               \
        uint8_t low = wi_low(a, b);    \
        b = wi_high(a, b);             \
        a = low;                       \
    } while (0)

// The median of nine values, by Paeth's nineteen exchanges (Graphics Gems I, "Median finding on a 3x3 grid").
WI_INLINE uint8_t wi_median(
    uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint8_t e, uint8_t f, uint8_t g, uint8_t h, uint8_t i) {
    WI_SORT(b, c); WI_SORT(e, f); WI_SORT(h, i);
    WI_SORT(a, b); WI_SORT(d, e); WI_SORT(g, h);
    WI_SORT(b, c); WI_SORT(e, f); WI_SORT(h, i);
    WI_SORT(a, d); WI_SORT(f, i); WI_SORT(e, h);
    WI_SORT(d, g); WI_SORT(b, e); WI_SORT(c, f);
    WI_SORT(e, h); WI_SORT(e, c); WI_SORT(g, e);
    WI_SORT(e, c);
    return e;
}

WI_CLONES
void wi_differs_row(
    uint8_t *restrict output, const uint8_t *restrict above, const uint8_t *restrict row, const uint8_t *restrict below,
    size_t count, const uint8_t *restrict color, int threshold) {
    for (size_t i = 0; i < 4 * count; i++) {
        uint8_t middle = wi_median(
            above[i], above[i + 4], above[i + 8], row[i], row[i + 4], row[i + 8], below[i], below[i + 4], below[i + 8]);
        uint8_t against = color[i & 3];
        uint8_t difference = (uint8_t)(wi_high(middle, against) - wi_low(middle, against));
        output[i] = difference > threshold;
    }
}
