// The inner loops over pixels. They are in C because `target_clones` compiles each loop for several processors into one binary,
// and picks one when the program is loaded. Swift has nothing like it without `unsafeFlags`, which would prevent other packages
// from depending on this one.
//
// Nothing here allocates, fails or keeps state. Pixels are RGBA, with 8 or 16 bits a channel in the machine's byte order.
#ifndef CPIXELS_H
#define CPIXELS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The number of rows that are weighted and added at a time.
#define WI_ROWS_AT_ONCE 4
// The number of fraction bits of an integer weight.
#define WI_WEIGHT_BITS 14
// The number of intervals in a table from linear light. The table has one entry more than this, and another one after it.
#define WI_ENCODE_STEPS 4096

/// How the channels of a row are stored, which determines their conversion to premultiplied floats.
typedef enum wi_pixel_kind {
    WI_PIXEL_8 = 0,
    WI_PIXEL_8_STRAIGHT = 1,
    WI_PIXEL_16 = 2,
    WI_PIXEL_16_STRAIGHT = 3,
    // Premultiplied floats. Their maximum is accounted for in the weights.
    WI_PIXEL_FLOAT = 4,
} wi_pixel_kind;

// Resampling. Vertical pass: `sums[s][i] += rows[r][i] * weights[4 * s + r]` for four rows and each of `sum_count` sums.

/// The implementations of the integer pass over rows. All give the same sums.
typedef enum { WI_KERNEL_PLAIN, WI_KERNEL_AVX2, WI_KERNEL_VNNI } wi_kernel;

/// For tests: wi_add_rows_8 with a certain kernel. Returns 0, and adds nothing, if this processor does not have the kernel or
/// `count` is too small for it.
int wi_add_rows_8_with(
    wi_kernel kernel, int32_t *_Nonnull const *_Nonnull sums, const int16_t *_Nonnull weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count);

/// Adds weighted rows of opaque bytes. `count` is in channels; weights have WI_WEIGHT_BITS fraction bits.
void wi_add_rows_8(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count, const uint8_t *_Nonnull const *_Nonnull rows,
    size_t count);

/// Adds weighted rows of any kind of pixel; straight pixels are premultiplied. `count` is in pixels. `linear` has the linear light
/// of each stored value, with the same maximum; without it, stored values are weighted.
void wi_add_rows_float(
    float *_Nonnull const *_Nonnull sums, const float *weights, size_t sum_count, const void *_Nonnull const *_Nonnull rows, size_t count,
    wi_pixel_kind kind, const float *_Nullable linear);

/// Converts vertical sums to 16 bits with six fraction bits, which leaves room for the overshoot of any filter.
void wi_sums_to_row(int16_t *row, const int32_t *sums, size_t count);

/// Horizontal pass: output pixel `x` is the sum of `taps` pixels from `starts[x]` on, weighted by
/// `weights[x * taps ...]`; `taps` is a multiple of 4.
void wi_filter_row_8(
    uint8_t *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width);

/// As above, but gives floats from 0 to 1 that are not rounded, for further stages.
void wi_filter_row_8_float(
    float *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width);

/// Makes one row of means from `rows` rows of `width` straight pixels, which are `stride` bytes apart. Each block of `factor`
/// columns becomes one pixel; the last block has the remaining columns. Colours are weighted by their alpha. `rows` and `factor`
/// are from 1 to 16.
void wi_shrink_row_8(
    uint8_t *output, const uint8_t *input, size_t stride, size_t rows, size_t width, size_t factor);

// Planes of samples; strides are in samples.

/// Makes a plane of rounded means from one of `width` by `height` samples: each block of `across` columns and `down` rows becomes
/// one sample. Blocks at the right and lower edge have the remaining columns and rows. `across` and `down` are from 1 to 16.
void wi_mean_plane_8(
    uint8_t *output, size_t output_stride, const uint8_t *input, size_t stride, size_t width, size_t height, size_t across,
    size_t down);
void wi_mean_plane_16(
    uint16_t *output, size_t output_stride, const uint16_t *input, size_t stride, size_t width, size_t height, size_t across,
    size_t down);

/// Halves the sides of a plane of `width` by `height` samples, rounded up, with a filter over six samples; a side is kept if
/// `is_across` or `is_down` is 0. At the edges the last samples are repeated. No sample exceeds `top`.
void wi_halve_plane_8(
    uint8_t *output, size_t output_stride, const uint8_t *input, size_t stride, size_t width, size_t height, int is_across,
    int is_down, uint32_t top);
void wi_halve_plane_16(
    uint16_t *output, size_t output_stride, const uint16_t *input, size_t stride, size_t width, size_t height, int is_across,
    int is_down, uint32_t top);

void wi_filter_row_float(
    float *output, const float *row, const int32_t *starts, const float *weights, size_t taps, size_t width);

/// Stores a row, rounded and clamped. Colours are at most alpha before they are made straight. `encoded` is for rows in linear
/// light: it has the stored values, 0 to 1, for the squares of 0, 1 / WI_ENCODE_STEPS ... 1.
void wi_store_row_8(uint8_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded);
void wi_store_row_16(uint16_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded);

/// Clamps colours to 0...alpha, and alpha to 0...`top`, since filters with negative weights exceed these ranges.
void wi_clamp_row_float(float *row, size_t width, float top);

// Small blurs of bytes. `weights` have 16 fraction bits: the middle one, then `reach` weights, each of which applies to two
// pixels; together they add up to 1. `count` is in channels. The result is the same on every processor.

/// Vertical pass, over 2 * `reach` + 1 rows.
void wi_blur_columns_8(
    uint16_t *sums, const uint8_t *_Nonnull const *_Nonnull rows, size_t reach, const uint16_t *weights, size_t count);
/// Horizontal pass. `sums` must have `reach` further pixels before and after the row.
void wi_blur_row_8(uint8_t *output, const uint16_t *sums, size_t reach, const uint16_t *weights, size_t count);

// Operations on single pixels. A run has planes of at most WI_RUN_PIXELS straight pixels, 0 to 1.

#define WI_RUN_PIXELS 256

// Planes of floats: WI_RUN_PIXELS of red, then as many of green, of blue and of alpha, aligned to 32 bytes.
typedef struct wi_planes wi_planes;

typedef enum wi_run_alpha { WI_RUN_OPAQUE = 0, WI_RUN_STRAIGHT = 1, WI_RUN_PREMULTIPLIED = 2 } wi_run_alpha;

void wi_load_run_8(wi_planes *run, const uint8_t *pixels, size_t count, wi_run_alpha alpha);
void wi_load_run_16(wi_planes *run, const uint16_t *pixels, size_t count, wi_run_alpha alpha);
void wi_load_run_float(wi_planes *run, const float *pixels, size_t count, wi_run_alpha alpha);
/// Stores straight pixels, rounded to the nearest value.
void wi_store_run_8(uint8_t *pixels, const wi_planes *run, size_t count);
void wi_store_run_16(uint16_t *pixels, const wi_planes *run, size_t count);
/// Stores premultiplied pixels.
void wi_store_run_float(float *pixels, const wi_planes *run, size_t count);

/// Changes colours and alpha by a matrix of four rows of five: the weights of red, green, blue and alpha, and a constant.
void wi_run_matrix_alpha(wi_planes *run, size_t count, const float *matrix);

/// The operations on colours that do not depend on alpha. Results are clamped to the step's bounds, by default 0 and 1.
typedef enum wi_color_kind {
    /// Multiplies each channel by a number, and adds another one.
    WI_COLOR_SCALE = 0,
    /// Makes each channel a weighted sum of all channels plus a constant.
    WI_COLOR_MATRIX = 1,
    /// Raises each channel, from 0 to 1, to a power above 0, to five digits.
    WI_COLOR_POWER = 2,
    /// Raises each channel to a power to four digits, which suffices for bytes.
    WI_COLOR_BRIEF_POWER = 3,
} wi_color_kind;

typedef struct wi_color_step {
    wi_color_kind kind;
    /// For red, green and blue: the weights of red, green and blue, and the constant. For a power: its exponent.
    float values[12];
    /// The bounds for the results, and whether they have to be applied.
    float low[3], high[3];
    int holds_low, holds_high;
} wi_color_step;

/// Makes a step of a matrix of four rows of five. The weights of alpha, and the row for alpha, are ignored.
static inline wi_color_step wi_color_matrix(const float *matrix) {
    wi_color_step step = {WI_COLOR_SCALE, {0}, {0, 0, 0}, {1, 1, 1}, 1, 1};
    for (int row = 0; row < 3; row++) {
        for (int part = 0; part < 3; part++) {
            step.values[4 * row + part] = matrix[5 * row + part];
            if (row != part && matrix[5 * row + part] != 0) step.kind = WI_COLOR_MATRIX;
        }
        step.values[4 * row + 3] = matrix[5 * row + 4];
    }
    return step;
}

static inline wi_color_step wi_color_power(float power) {
    wi_color_step step = {WI_COLOR_POWER, {power}, {0, 0, 0}, {1, 1, 1}, 0, 0};
    return step;
}

/// Applies consecutive steps to colours.
void wi_run_colors(wi_planes *run, size_t count, const wi_color_step *steps, size_t step_count);
/// Applies consecutive steps to opaque or straight pixels. The first step gets bytes as they are, and the output of the last step
/// is truncated to bytes. `output` and `input` may be the same.
///
/// curve: the curve after the last step, or NULL; see wi_color_curve_index. Its inputs must be at least 2 to the power of -8, and
/// below 1.
void wi_color_row_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count,
    const float *_Nullable curve, int opaque);
/// Whether this processor supports curves.
int wi_has_color_curves(void);
/// The index i of the coefficients for x: a curve has three times 32 numbers, and its value is
/// `numbers[i] + x * (numbers[32 + i] + x * numbers[64 + i])`. The index consists of three bits of the exponent of x and two bits
/// of its fraction.
static inline uint32_t wi_color_curve_index(float x) {
    union { float number; uint32_t bits; } word = {x};
    return word.bits >> 21 & 31;
}
/// Maps bytes by tables of 256 bytes for red, for green and for blue. It replaces steps that do not mix channels.
void wi_map_row_8(uint8_t *output, const uint8_t *input, size_t count, const uint8_t *tables, int opaque);
/// Maps colours by a cube of `side` times `side` times `side` colours of four floats, with red changing first. Colours in between
/// are interpolated tetrahedrally. `amount` 1 is the full effect.
void wi_run_cube(wi_planes *run, size_t count, const float *cube, size_t side, float amount);
/// Maps red, green and blue by a curve for each: `points` times four floats, the last of which is not used. Values in between are
/// interpolated linearly.
void wi_run_curves(wi_planes *run, size_t count, const float *curves, size_t points, float amount);
/// Moves colours towards one colour, by an amount for each pixel.
void wi_run_mix(wi_planes *run, size_t count, const float *amounts, const float *color);
/// Multiplies alpha, by a factor for each pixel.
void wi_run_coverage(wi_planes *run, size_t count, const float *coverage);
/// Makes invisible pixels black, before an operation that may make them visible.
void wi_run_blacken_invisible(wi_planes *run, size_t count);

typedef enum wi_blend_mode {
    WI_BLEND_NORMAL, WI_BLEND_MULTIPLY, WI_BLEND_SCREEN, WI_BLEND_OVERLAY, WI_BLEND_DARKEN, WI_BLEND_LIGHTEN,
    WI_BLEND_COLOR_DODGE, WI_BLEND_COLOR_BURN, WI_BLEND_SOFT_LIGHT, WI_BLEND_HARD_LIGHT, WI_BLEND_DIFFERENCE,
    WI_BLEND_EXCLUSION, WI_BLEND_HUE, WI_BLEND_SATURATION, WI_BLEND_COLOR, WI_BLEND_LUMINOSITY, WI_BLEND_CLEAR,
    WI_BLEND_SOURCE, WI_BLEND_SOURCE_IN, WI_BLEND_SOURCE_OUT, WI_BLEND_SOURCE_ATOP, WI_BLEND_DESTINATION_OVER,
    WI_BLEND_DESTINATION_IN, WI_BLEND_DESTINATION_OUT, WI_BLEND_DESTINATION_ATOP, WI_BLEND_XOR, WI_BLEND_PLUS_DARKER,
    WI_BLEND_PLUS_LIGHTER
} wi_blend_mode;

/// Blends the pixels of `top` over those of `run`.
void wi_run_blend(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode);

/// Sharpens opaque bytes without a threshold; `amount` is at most 1.
void wi_sharpen_row_8(
    uint8_t *output, const uint8_t *sharp, const uint8_t *blurred, size_t width, float amount);
/// Sharpens a row of premultiplied floats: adds `amount` times the difference between its colours and those of its blurred
/// version, if the difference is `threshold` or more. Alpha is not changed.
void wi_sharpen_row(
    float *output, const float *sharp, const float *blurred, size_t width, float amount, float threshold);

/// Makes a row of a picture that is rotated by any angle: `count` premultiplied floats. The first pixel is at (`x`, `y`) of
/// `pixels`, and each further one is (`x_step`, `y_step`) farther. The filter is a Catmull-Rom spline. `background`, a
/// premultiplied colour, fills what the picture does not cover.
void wi_rotate_row(
    float *output, size_t count, const void *pixels, size_t width, size_t height, size_t bytes_per_row, wi_pixel_kind kind,
    const float *background, double x, double y, double x_step, double y_step);

/// For each of 4 * `count` bytes, tells whether the median of the nine bytes around it differs from `color` by more than the
/// threshold. The input rows have one further pixel at each end.
void wi_differs_row(
    uint8_t *output, const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t count, const uint8_t *color,
    int threshold);

// Reordering of pixels: output pixel (x, y) is `input[x * x_step + y * y_step]`. It works in tiles, so that a quarter turn does
// not miss the cache at every pixel.

void wi_reorder_32(
    uint32_t *output, size_t width, size_t height, const uint32_t *input, ptrdiff_t x_step, ptrdiff_t y_step);
void wi_reorder_64(
    uint64_t *output, size_t width, size_t height, const uint64_t *input, ptrdiff_t x_step, ptrdiff_t y_step);

// Conversions of alpha, in place, rounded to the nearest value; `count` is in pixels.

void wi_premultiply_8(uint8_t *pixels, size_t count);
void wi_premultiply_16(uint16_t *pixels, size_t count);
/// A colour above its alpha, which no valid premultiplied pixel has, becomes the maximum.
void wi_unpremultiply_8(uint8_t *pixels, size_t count);
void wi_unpremultiply_16(uint16_t *pixels, size_t count);
/// Converts one sample of a premultiplied pixel to straight alpha. The colour of an invisible pixel stays unchanged.
static inline uint32_t wi_straight_sample(uint32_t color, uint32_t alpha, uint32_t most) {
    // The product is at most 65 535 squared plus half an alpha, which fits in 32 bits.
    uint32_t straight = alpha == 0 ? color : (color * most + alpha / 2) / alpha;
    return straight < most ? straight : most;
}
/// Converts cairo's premultiplied words (alpha in the highest byte, then red, green and blue) to RGBA with straight alpha.
void wi_straighten_argb(uint32_t *output, const uint32_t *input, size_t count);
/// Converts words whose highest byte is ignored to opaque RGBA.
void wi_opaque_argb(uint32_t *output, const uint32_t *input, size_t count);
void wi_flatten_8(uint8_t *pixels, size_t count, const uint8_t *color, int premultiplied);
void wi_flatten_16(uint16_t *pixels, size_t count, const uint16_t *color, int premultiplied);
/// Returns 1 if every alpha is the maximum.
int wi_is_opaque_8(const uint8_t *pixels, size_t count);
int wi_is_opaque_16(const uint16_t *pixels, size_t count);

/// Returns 1 if red, green and blue of every pixel are equal, including invisible pixels.
int wi_is_gray_8(const uint8_t *pixels, size_t count);
int wi_is_gray_16(const uint16_t *pixels, size_t count);

/// Composites straight pixels over straight ones (Porter-Duff "over"), rounded to the nearest value.
void wi_lay_over_8(uint8_t *pixels, const uint8_t *above, size_t count);

// Conversions of channels: three channels of 8 bits become opaque RGBA; `count` is in pixels.

void wi_expand_rgb(uint8_t *output, const uint8_t *input, size_t count);
void wi_expand_bgr(uint8_t *output, const uint8_t *input, size_t count);
/// As above, for a row that holds each pixel's difference from the previous pixel, modulo 256.
void wi_sum_rgb(uint8_t *output, const uint8_t *input, size_t count);
/// Sums such differences of RGBA pixels.
void wi_sum_rgba(uint8_t *output, const uint8_t *input, size_t count);

// Conversions of depth; `count` is in channels.

void wi_narrow(uint8_t *output, const uint16_t *input, size_t count);
void wi_widen(uint16_t *output, const uint8_t *input, size_t count);

// Placeholders. Pixels are RGBA of 8 bits. Sums are computed from the first pixel to the last, and each product and each sum is
// rounded separately, as in the reference implementations of BlurHash and ThumbHash.

// The number of cosines that are summed at a time: four columns times four rows of waves.
#define WI_COSINES 16
// The number of waves in a row of ThumbHash, rounded up by one that is not used.
#define WI_COLUMNS 8

/// Converts red, green and blue to light by a table of 256 values; alpha is left out.
void wi_lighten_row(float *output, const uint8_t *pixels, const float *light, size_t width);

/// Adds a row to WI_COSINES sums of each channel, those of red first, then green and blue. `columns` has four cosines a pixel.
/// `row` has the cosine of this row for each sum. `light` has three channels a pixel.
void wi_add_cosines(float *sums, const float *columns, const float *row, const float *light, size_t width);

/// Adds a row of one channel to WI_COLUMNS sums. `columns` has as many cosines a pixel; `row` is the cosine of this row.
void wi_add_cosines_double(double *sums, const double *columns, double row, const double *values, size_t width);

/// The sums of pixels of nearly one colour: channels times alpha, and alpha.
typedef struct wi_color_sum {
    uint64_t red, green, blue, alpha;
} wi_color_sum;

/// Adds straight pixels to 32 768 bins, by 5 bits each of red, green and blue.
void wi_count_colors(wi_color_sum *bins, const uint8_t *pixels, size_t count);

// PNG's filters of rows (PNG specification, section 9): 0 none, 1 left, 2 above, 3 average, 4 Paeth.

/// Filters a row of `count` bytes into `out`. `pixel` is the number of bytes a pixel, at most 8. `above` is the previous row. As
/// many zeros must precede `row` and `above`.
/// - Returns: the sum of the magnitudes of the filtered bytes, as numbers from -128 to 127. The filter with the smallest sum
///   compresses best.
uint32_t wi_png_filter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t pixel);

/// Undoes the filter of a row of RGB or RGBA with 8 bits. `raw` has the filter's number and then the bytes, and one more byte that
/// may be read. `above` is the previous row as RGBA, and `row` becomes RGBA. Returns 0 for an unknown filter.
int wi_png_unfilter(uint8_t *row, const uint8_t *above, const uint8_t *raw, size_t width, int channels);

/// Undoes the filters of two consecutive rows in about the time of one. Returns 0, and does nothing, if that is not faster.
int wi_png_unfilter_two(
    uint8_t *row, uint8_t *next, const uint8_t *above, const uint8_t *raw, const uint8_t *next_raw, size_t width,
    int channels);

/// Undoes a filter in place, for pixels of any kind. `pixel` is 1, 2, 3, 4, 6 or 8. Returns 0 for an unknown filter.
int wi_png_unfilter_bytes(int filter, uint8_t *bytes, const uint8_t *above, size_t count, size_t pixel);

#pragma clang assume_nonnull end

#endif
