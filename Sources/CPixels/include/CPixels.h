// The inner pixel loops. In C because `target_clones` compiles each loop for several processors into one binary and
// picks at load time; Swift has no such thing without `unsafeFlags`, which would bar the package from being a dependency.
//
// Nothing here allocates, fails or keeps state. Pixels are RGBA, 8 or 16 bits a channel, machine byte order.
#ifndef CPIXELS_H
#define CPIXELS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// Rows that are weighted together in one go.
#define WI_ROWS_AT_ONCE 4
// Binary digits behind the point of an integer weight.
#define WI_WEIGHT_BITS 14
// A table from linear light has one entry more than this, and another one behind it.
#define WI_ENCODE_STEPS 4096

/// How the channels of a row are stored, and what must happen to them on the way to premultiplied floats.
typedef enum wi_pixel_kind {
    WI_PIXEL_8 = 0,
    WI_PIXEL_8_STRAIGHT = 1,
    WI_PIXEL_16 = 2,
    WI_PIXEL_16_STRAIGHT = 3,
    // Premultiplied already; what the maximum is, the weights say.
    WI_PIXEL_FLOAT = 4,
} wi_pixel_kind;

// Resampling. Vertical pass: `sums[s][i] += rows[r][i] * weights[4 * s + r]` for four rows and each of `sum_count` sums.

/// What the integer pass over rows is done with. All give the same sums.
typedef enum { WI_KERNEL_PLAIN, WI_KERNEL_AVX2, WI_KERNEL_VNNI } wi_kernel;

/// For tests: wi_add_rows_8 with one kernel; returns 0, and adds nothing, where this processor has it not, or `count` is too
/// small for it.
int wi_add_rows_8_with(
    wi_kernel kernel, int32_t *_Nonnull const *_Nonnull sums, const int16_t *_Nonnull weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count);

/// `count` is in channels; weights have WI_WEIGHT_BITS.
void wi_add_rows_8(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count, const uint8_t *_Nonnull const *_Nonnull rows,
    size_t count);

/// As above for any kind of pixel, premultiplied on the way where it is straight; `count` is in pixels. `linear` has for
/// each stored value that of linear light, with the same maximum; without it values are weighted as they are stored.
void wi_add_rows_float(
    float *_Nonnull const *_Nonnull sums, const float *weights, size_t sum_count, const void *_Nonnull const *_Nonnull rows, size_t count,
    wi_pixel_kind kind, const float *_Nullable linear);

/// Vertical sums to 16 bits with six of them behind the point, which has room for the overshoot of any filter.
void wi_sums_to_row(int16_t *row, const int32_t *sums, size_t count);

/// Horizontal pass: output pixel `x` is the sum of `taps` pixels from `starts[x]` on, weighted by
/// `weights[x * taps ...]`; `taps` is a multiple of 4.
void wi_filter_row_8(
    uint8_t *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width);

/// The same to floats from 0 to 1, which are not rounded, for stages that go on with them.
void wi_filter_row_8_float(
    float *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width);

/// One row of means: of `rows` rows of `width` straight pixels, `stride` bytes apart, each square of `factor` columns becomes
/// one pixel, the last one with what is left. Colours are weighted by their alpha. `rows` and `factor` are from 1 to 16.
void wi_shrink_row_8(
    uint8_t *output, const uint8_t *input, size_t stride, size_t rows, size_t width, size_t factor);

void wi_filter_row_float(
    float *output, const float *row, const int32_t *starts, const float *weights, size_t taps, size_t width);

/// Rounds and clamps; colour is held below alpha for straight and premultiplied results alike. `encoded` has the stored
/// value, 0 to 1, of the squares of 0, 1 / WI_ENCODE_STEPS ... 1 in linear light, for rows that are in it.
void wi_store_row_8(uint8_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded);
void wi_store_row_16(uint16_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded);

/// Holds colours between 0 and alpha, and alpha between 0 and `top`: what filters with negative lobes go beyond.
void wi_clamp_row_float(float *row, size_t width, float top);

// Small blurs of bytes. `weights` has 16 bits behind the point: the one in the middle, then `reach` of them, each of which is that
// of two pixels; together they weigh 1. `count` is in channels. Every processor gives the same.

/// Vertical pass: of 2 * `reach` + 1 rows.
void wi_blur_columns_8(
    uint16_t *sums, const uint8_t *_Nonnull const *_Nonnull rows, size_t reach, const uint16_t *weights, size_t count);
/// Horizontal pass: there are `reach` pixels before and behind the sums.
void wi_blur_row_8(uint8_t *output, const uint16_t *sums, size_t reach, const uint16_t *weights, size_t count);

// Operations on single pixels. A run has planes of at most WI_RUN_PIXELS straight pixels, 0 to 1.

#define WI_RUN_PIXELS 256

// Floats: WI_RUN_PIXELS of red, then as many of green, of blue and of alpha, aligned to 32 bytes.
typedef struct wi_planes wi_planes;

typedef enum wi_run_alpha { WI_RUN_OPAQUE = 0, WI_RUN_STRAIGHT = 1, WI_RUN_PREMULTIPLIED = 2 } wi_run_alpha;

void wi_load_run_8(wi_planes *run, const uint8_t *pixels, size_t count, wi_run_alpha alpha);
void wi_load_run_16(wi_planes *run, const uint16_t *pixels, size_t count, wi_run_alpha alpha);
void wi_load_run_float(wi_planes *run, const float *pixels, size_t count, wi_run_alpha alpha);
/// As straight pixels, rounded to nearest.
void wi_store_run_8(uint8_t *pixels, const wi_planes *run, size_t count);
void wi_store_run_16(uint16_t *pixels, const wi_planes *run, size_t count);
/// As premultiplied pixels.
void wi_store_run_float(float *pixels, const wi_planes *run, size_t count);

/// Colours and alpha by a matrix of four rows of five: the weights of red, green, blue and alpha, and what is added.
void wi_run_matrix_alpha(wi_planes *run, size_t count, const float *matrix);

/// What can be done to colours without looking at alpha. Results are held between 0 and 1.
typedef enum wi_color_kind {
    /// Each part times a number, and another one added.
    WI_COLOR_SCALE = 0,
    /// Each part a sum of all parts, weighted, and of a number.
    WI_COLOR_MATRIX = 1,
    /// Each part, from 0 to 1, raised to a power above 0, to five digits.
    WI_COLOR_POWER = 2,
    /// The same to four digits, which do for bytes.
    WI_COLOR_BRIEF_POWER = 3,
} wi_color_kind;

typedef struct wi_color_step {
    wi_color_kind kind;
    /// For red, green and blue: the weights of red, green and blue, and what is added. Of a power: the power.
    float values[12];
    /// What comes out below or above is held there, where that can happen.
    float low[3], high[3];
    int holds_low, holds_high;
} wi_color_step;

/// Of four rows of five, of which those that say what becomes of alpha and what alpha adds do not count.
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

/// Takes colours through steps that follow each other.
void wi_run_colors(wi_planes *run, size_t count, const wi_color_step *steps, size_t step_count);
/// The same of pixels that are opaque, or else straight. The first step takes bytes as they are, and what comes out of the last is
/// cut off to bytes. `output` and `input` may be the same.
///
/// curve: what comes behind the last step, or NULL: see wi_color_curve_index; parts of colours are then at least 2 to the power of
/// -8, and below 1.
void wi_color_row_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count,
    const float *_Nullable curve, int opaque);
/// Whether this processor takes curves.
int wi_has_color_curves(void);
/// A curve has three times 32 numbers: of `numbers[i] + x * (numbers[32 + i] + x * numbers[64 + i])` this is the i that belongs to x,
/// by three bits of its exponent and two behind the point.
static inline uint32_t wi_color_curve_index(float x) {
    union { float number; uint32_t bits; } word = {x};
    return word.bits >> 21 & 31;
}
/// The same where no step mixes the parts of a colour: by tables of 256 bytes for red, for green and for blue.
void wi_map_row_8(uint8_t *output, const uint8_t *input, size_t count, const uint8_t *tables, int opaque);
/// Colours by a cube of `side` times `side` times `side` colours of four floats, red changing first; between them as in a
/// tetrahedron. `amount` 1: wholly.
void wi_run_cube(wi_planes *run, size_t count, const float *cube, size_t side, float amount);
/// Red, green and blue by a curve for each: `points` times four floats, the last of which is not used. Between them it is straight.
void wi_run_curves(wi_planes *run, size_t count, const float *curves, size_t points, float amount);
/// Moves colours towards one colour, by an amount for each pixel.
void wi_run_mix(wi_planes *run, size_t count, const float *amounts, const float *color);
/// Multiplies alpha, by a factor for each pixel.
void wi_run_coverage(wi_planes *run, size_t count, const float *coverage);
/// Makes black what cannot be seen, before an operation that may show it.
void wi_run_forget(wi_planes *run, size_t count);

typedef enum wi_blend_mode {
    WI_BLEND_NORMAL, WI_BLEND_MULTIPLY, WI_BLEND_SCREEN, WI_BLEND_OVERLAY, WI_BLEND_DARKEN, WI_BLEND_LIGHTEN,
    WI_BLEND_COLOR_DODGE, WI_BLEND_COLOR_BURN, WI_BLEND_SOFT_LIGHT, WI_BLEND_HARD_LIGHT, WI_BLEND_DIFFERENCE,
    WI_BLEND_EXCLUSION, WI_BLEND_HUE, WI_BLEND_SATURATION, WI_BLEND_COLOR, WI_BLEND_LUMINOSITY, WI_BLEND_CLEAR,
    WI_BLEND_SOURCE, WI_BLEND_SOURCE_IN, WI_BLEND_SOURCE_OUT, WI_BLEND_SOURCE_ATOP, WI_BLEND_DESTINATION_OVER,
    WI_BLEND_DESTINATION_IN, WI_BLEND_DESTINATION_OUT, WI_BLEND_DESTINATION_ATOP, WI_BLEND_XOR, WI_BLEND_PLUS_DARKER,
    WI_BLEND_PLUS_LIGHTER
} wi_blend_mode;

/// Lays the pixels of `top` over those of `run`.
void wi_run_blend(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode);

/// The same for opaque bytes, without a threshold; `amount` is at most 1.
void wi_sharpen_row_8(
    uint8_t *output, const uint8_t *sharp, const uint8_t *blurred, size_t width, float amount);
/// Adds `amount` times what the colours of a row of premultiplied floats differ from those of its blurred self by, where that
/// is `threshold` or more. Alpha stays.
void wi_sharpen_row(
    float *output, const float *sharp, const float *blurred, size_t width, float amount, float threshold);

/// A row of a picture that is turned by any angle: `count` premultiplied floats, the first of which lies at (`x`, `y`) of
/// `pixels`, and each further one (`x_step`, `y_step`) farther. By Catmull and Rom's spline. What the picture does not cover is
/// `background`, a premultiplied colour.
void wi_rotate_row(
    float *output, size_t count, const void *pixels, size_t width, size_t height, size_t bytes_per_row, wi_pixel_kind kind,
    const float *background, double x, double y, double x_step, double y_step);

/// For each of 4 * `count` bytes whether the median of the nine around it differs from `color` by more than the threshold. The
/// rows have one pixel more at each end.
void wi_differs_row(
    uint8_t *output, const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t count, const uint8_t *color,
    int threshold);

// Moving pixels about: output pixel (x, y) is `input[x * x_step + y * y_step]`. In tiles, so that a turn by a quarter
// does not miss the cache at every pixel.

void wi_reorder_32(
    uint32_t *output, size_t width, size_t height, const uint32_t *input, ptrdiff_t x_step, ptrdiff_t y_step);
void wi_reorder_64(
    uint64_t *output, size_t width, size_t height, const uint64_t *input, ptrdiff_t x_step, ptrdiff_t y_step);

// Alpha, in place, rounded to nearest; `count` is in pixels.

void wi_premultiply_8(uint8_t *pixels, size_t count);
void wi_premultiply_16(uint16_t *pixels, size_t count);
/// A colour above its alpha, which no premultiplied pixel has, becomes the maximum.
void wi_unpremultiply_8(uint8_t *pixels, size_t count);
void wi_unpremultiply_16(uint16_t *pixels, size_t count);
/// One sample of a premultiplied pixel, for those that come one by one; the colour of a pixel that cannot be seen stays.
static inline uint32_t wi_straight_sample(uint32_t color, uint32_t alpha, uint32_t most) {
    // At most 65 535 squared and half an alpha: within 32 bits.
    uint32_t straight = alpha == 0 ? color : (color * most + alpha / 2) / alpha;
    return straight < most ? straight : most;
}
/// RGBA with straight alpha of premultiplied words as cairo has them: alpha highest, then red, green and blue.
void wi_straighten_argb(uint32_t *output, const uint32_t *input, size_t count);
/// The same of words whose highest byte does not count.
void wi_opaque_argb(uint32_t *output, const uint32_t *input, size_t count);
void wi_flatten_8(uint8_t *pixels, size_t count, const uint8_t *color, int premultiplied);
void wi_flatten_16(uint16_t *pixels, size_t count, const uint16_t *color, int premultiplied);
/// 1 when every alpha is the maximum.
int wi_is_opaque_8(const uint8_t *pixels, size_t count);
int wi_is_opaque_16(const uint16_t *pixels, size_t count);

/// 1 when red, green and blue of every pixel are the same, also of those that cannot be seen.
int wi_is_gray_8(const uint8_t *pixels, size_t count);
int wi_is_gray_16(const uint16_t *pixels, size_t count);

/// Lays straight pixels over straight ones ("over" of Porter and Duff), rounded to nearest.
void wi_lay_over_8(uint8_t *pixels, const uint8_t *above, size_t count);

// Channels: opaque RGBA of three of 8 bits; `count` is in pixels.

void wi_expand_rgb(uint8_t *output, const uint8_t *input, size_t count);
void wi_expand_bgr(uint8_t *output, const uint8_t *input, size_t count);
/// The same of a row that holds each pixel's difference from the one before it, modulo 256.
void wi_sum_rgb(uint8_t *output, const uint8_t *input, size_t count);
/// RGBA of such differences of RGBA.
void wi_sum_rgba(uint8_t *output, const uint8_t *input, size_t count);

// Depth; `count` is in channels.

void wi_narrow(uint8_t *output, const uint16_t *input, size_t count);
void wi_widen(uint16_t *output, const uint8_t *input, size_t count);

// Placeholders. Pixels are RGBA of 8 bits; what is summed is summed from the first pixel to the last, and each product and
// sum is rounded by itself, as the reference implementations of BlurHash and ThumbHash do it.

// Cosines that are summed at once: four columns times four rows of components.
#define WI_COSINES 16
// Components of a row of ThumbHash, and one for nothing.
#define WI_COLUMNS 8

/// The light of red, green and blue, by a table of 256; alpha is left out.
void wi_lighten_row(float *output, const uint8_t *pixels, const float *light, size_t width);

/// Adds a row to WI_COSINES sums of each channel: those of red, then green, then blue. `columns` has four cosines a pixel,
/// `row` has for each sum the cosine of this row; `light` has three channels a pixel.
void wi_add_cosines(float *sums, const float *columns, const float *row, const float *light, size_t width);

/// Adds a row of one channel to WI_COLUMNS sums; `columns` has as many cosines a pixel, `row` is the cosine of this row.
void wi_add_cosines_double(double *sums, const double *columns, double row, const double *values, size_t width);

/// What pixels of nearly one colour add up to: channels times alpha, and alpha.
typedef struct wi_color_sum {
    uint64_t red, green, blue, alpha;
} wi_color_sum;

/// Adds straight pixels to 32 768 bins: 5 bits of red, of green and of blue.
void wi_count_colors(wi_color_sum *bins, const uint8_t *pixels, size_t count);

// PNG's filters of rows (PNG specification, section 9): 0 none, 1 left, 2 above, 3 average, 4 Paeth.

/// Filters a row of `count` bytes into `out`; `pixel` is how many bytes a pixel has, at most 8. In front of `row` and of `above`,
/// the row before it, stand as many zeros.
/// - Returns: the sum of what is left, taken as numbers from -128 to 127: what compresses best is small.
uint32_t wi_png_filter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t pixel);

/// Undoes the filter of a row of RGB or RGBA with 8 bits: `raw` has its number and then its bytes, and one more that may be read;
/// `above` is the row before it as RGBA, and `row` becomes RGBA. 0 for a number that no filter has.
int wi_png_unfilter(uint8_t *row, const uint8_t *above, const uint8_t *raw, size_t width, int channels);

/// The same for two rows that follow each other, in about the time of one; 0, and nothing is done, where that does not pay.
int wi_png_unfilter_two(
    uint8_t *row, uint8_t *next, const uint8_t *above, const uint8_t *raw, const uint8_t *next_raw, size_t width,
    int channels);

/// Undoes a filter in place, for pixels of any kind; 0 for a number that no filter has. `pixel` is 1, 2, 3, 4, 6 or 8.
int wi_png_unfilter_bytes(int filter, uint8_t *bytes, const uint8_t *above, size_t count, size_t pixel);

#pragma clang assume_nonnull end

#endif
