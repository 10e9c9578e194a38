// The two passes of the resampler: the first adds weighted rows, the second weighted pixels of the resulting row.
#include "CPixels.h"
#include "clones.h"

// The unit of the horizontal pass's sums as a fraction of full light, from the fraction bits of both passes.
#define WI_FILTERED_UNIT (1.0f / (255.0f * (float)(1 << (WI_WEIGHT_BITS + 6))))
#include "resample_avx2.h"
#include "resample_vnni.h"
#include <math.h>

// The plain loops run on processors without AVX2. For AVX2 there are kernels by hand, since compilers do not find `vpmaddwd`.

// The length of runs, in channels and in pixels: so short that four rows and their sums stay in the first-level cache.
enum { WI_RUN = 512, WI_FLOAT_RUN = 128 };

static void wi_add_rows_8_plain(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t from, size_t count) {
    for (size_t at = from; at < count; at += WI_RUN) {
        size_t run = count - at < WI_RUN ? count - at : WI_RUN;
        const uint8_t *restrict r0 = rows[0] + at, *restrict r1 = rows[1] + at;
        const uint8_t *restrict r2 = rows[2] + at, *restrict r3 = rows[3] + at;
        for (size_t s = 0; s < sum_count; s++) {
            int32_t *restrict sum = sums[s] + at;
            const int16_t w0 = weights[4 * s], w1 = weights[4 * s + 1];
            const int16_t w2 = weights[4 * s + 2], w3 = weights[4 * s + 3];
            for (size_t i = 0; i < run; i++) sum[i] += r0[i] * w0 + r1[i] * w1 + r2[i] * w2 + r3[i] * w3;
        }
    }
}

WI_CLONES
void wi_sums_to_row(int16_t *row, const int32_t *sums, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int32_t value = (sums[i] + (1 << (WI_WEIGHT_BITS - 7))) >> (WI_WEIGHT_BITS - 6);
        value = value < INT16_MIN ? INT16_MIN : value;
        row[i] = (int16_t)(value > INT16_MAX ? INT16_MAX : value);
    }
}

typedef int16_t wi_short4 __attribute__((vector_size(8), aligned(2)));
typedef int32_t wi_int4 __attribute__((vector_size(16)));

WI_INLINE wi_int4 wi_filter_pixel(const int16_t *pixel, const int16_t *weight, size_t taps) {
    wi_int4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
    for (size_t k = 0; k < taps; k += 2) {
        even += __builtin_convertvector(*(const wi_short4 *)(pixel + 4 * k), wi_int4) * weight[k];
        odd += __builtin_convertvector(*(const wi_short4 *)(pixel + 4 * k + 4), wi_int4) * weight[k + 1];
    }
    return even + odd;
}

static void wi_filter_row_8_plain(
    uint8_t *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
    for (size_t x = 0; x < width; x++) {
        wi_int4 sum = wi_filter_pixel(row + 4 * (ptrdiff_t)starts[x], weights + x * taps, taps);
        sum = (sum + (1 << (WI_WEIGHT_BITS + 5))) >> (WI_WEIGHT_BITS + 6);
        for (int c = 0; c < 4; c++) output[4 * x + c] = (uint8_t)(sum[c] < 0 ? 0 : sum[c] > 255 ? 255 : sum[c]);
    }
}

static void wi_filter_row_8_float_plain(
    float *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
    for (size_t x = 0; x < width; x++) {
        wi_int4 sum = wi_filter_pixel(row + 4 * (ptrdiff_t)starts[x], weights + x * taps, taps);
        for (int c = 0; c < 4; c++) {
            float value = (float)sum[c] * WI_FILTERED_UNIT;
            output[4 * x + c] = value < 0 ? 0 : value > 1 ? 1 : value;
        }
    }
}

// Returns the number of channels that were added; 0 if this processor does not have the kernel.
static size_t wi_add_rows_8_fast(
    wi_kernel kernel, int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count) {
#ifdef WI_AVX2
    if (kernel == WI_KERNEL_VNNI && WI_HAS_VNNI) return wi_add_rows_8_vnni(sums, weights, sum_count, rows, count);
    if (kernel == WI_KERNEL_AVX2 && WI_HAS_AVX2) return wi_add_rows_8_avx2(sums, weights, sum_count, rows, count);
#endif
    (void)kernel, (void)sums, (void)weights, (void)sum_count, (void)rows, (void)count;
    return 0;
}

int wi_add_rows_8_with(
    wi_kernel kernel, int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count) {
    size_t done = wi_add_rows_8_fast(kernel, sums, weights, sum_count, rows, count);
    if (done == 0 && kernel != WI_KERNEL_PLAIN) return 0;
    if (done < count) wi_add_rows_8_plain(sums, weights, sum_count, rows, done, count);
    return 1;
}

void wi_add_rows_8(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count) {
    if (wi_add_rows_8_with(WI_KERNEL_VNNI, sums, weights, sum_count, rows, count)) return;
    if (wi_add_rows_8_with(WI_KERNEL_AVX2, sums, weights, sum_count, rows, count)) return;
    wi_add_rows_8_with(WI_KERNEL_PLAIN, sums, weights, sum_count, rows, count);
}

void wi_filter_row_8(
    uint8_t *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
#ifdef WI_AVX2
    if (WI_HAS_AVX2) return wi_filter_row_8_avx2(output, row, starts, weights, taps, width);
#endif
    wi_filter_row_8_plain(output, row, starts, weights, taps, width);
}

void wi_filter_row_8_float(
    float *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
#ifdef WI_AVX2
    if (WI_HAS_AVX2) return wi_filter_row_8_float_avx2(output, row, starts, weights, taps, width);
#endif
    wi_filter_row_8_float_plain(output, row, starts, weights, taps, width);
}

typedef float wi_float4 __attribute__((vector_size(16), aligned(4)));

WI_CLONES_FMA
void wi_filter_row_float(
    float *output, const float *row, const int32_t *starts, const float *weights, size_t taps, size_t width) {
    for (size_t x = 0; x < width; x++) {
        const float *pixel = row + 4 * (ptrdiff_t)starts[x];
        const float *weight = weights + x * taps;
        wi_float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
        for (size_t k = 0; k < taps; k += 2) {
            even += *(const wi_float4 *)(pixel + 4 * k) * weight[k];
            odd += *(const wi_float4 *)(pixel + 4 * k + 4) * weight[k + 1];
        }
        *(wi_float4 *)(output + 4 * x) = even + odd;
    }
}

// Converts to linear light by a table. Premultiplied colours are divided by alpha for it.
WI_INLINE void wi_load_linear(
    float *restrict out, const void *row, size_t at, size_t count, wi_pixel_kind kind, const float *linear) {
    const uint8_t *restrict bytes = (const uint8_t *)row + 4 * at;
    const uint16_t *restrict words = (const uint16_t *)row + 4 * at;
    int wide = kind == WI_PIXEL_16 || kind == WI_PIXEL_16_STRAIGHT;
    int straight = kind == WI_PIXEL_8_STRAIGHT || kind == WI_PIXEL_16_STRAIGHT;
    uint32_t top = wide ? 65535 : 255;
    for (size_t i = 0; i < count; i++) {
        uint32_t alpha = wide ? words[4 * i + 3] : bytes[4 * i + 3];
        float scale = (float)alpha / (float)top;
        for (size_t c = 0; c < 3; c++) {
            uint32_t value = wide ? words[4 * i + c] : bytes[4 * i + c];
            if (!straight && alpha < top) {
                value = alpha ? (value * top + alpha / 2) / alpha : 0;
                value = value > top ? top : value;
            }
            out[4 * i + c] = linear[value] * scale;
        }
        out[4 * i + 3] = (float)alpha;
    }
}

// There is one switch for each run, and four plain loops that the compiler can vectorise.
WI_INLINE void wi_load(float *restrict out, const void *row, size_t at, size_t count, wi_pixel_kind kind) {
    const uint8_t *restrict bytes = (const uint8_t *)row + 4 * at;
    const uint16_t *restrict words = (const uint16_t *)row + 4 * at;
    switch (kind) {
    case WI_PIXEL_8:
        for (size_t i = 0; i < 4 * count; i++) out[i] = bytes[i];
        break;
    case WI_PIXEL_16:
        for (size_t i = 0; i < 4 * count; i++) out[i] = words[i];
        break;
    case WI_PIXEL_FLOAT:
        for (size_t i = 0; i < 4 * count; i++) out[i] = ((const float *)row)[4 * at + i];
        break;
    case WI_PIXEL_8_STRAIGHT:
        for (size_t i = 0; i < count; i++) {
            float alpha = bytes[4 * i + 3] * (1.0f / 255.0f);
            for (size_t c = 0; c < 3; c++) out[4 * i + c] = bytes[4 * i + c] * alpha;
            out[4 * i + 3] = bytes[4 * i + 3];
        }
        break;
    case WI_PIXEL_16_STRAIGHT:
        for (size_t i = 0; i < count; i++) {
            float alpha = words[4 * i + 3] * (1.0f / 65535.0f);
            for (size_t c = 0; c < 3; c++) out[4 * i + c] = words[4 * i + c] * alpha;
            out[4 * i + 3] = words[4 * i + 3];
        }
        break;
    }
}

WI_CLONES_FMA
void wi_add_rows_float(
    float *_Nonnull const *_Nonnull sums, const float *weights, size_t sum_count, const void *_Nonnull const *_Nonnull rows, size_t count,
    wi_pixel_kind kind, const float *_Nullable linear) {
    float loaded[WI_ROWS_AT_ONCE][4 * WI_FLOAT_RUN];
    for (size_t at = 0; at < count; at += WI_FLOAT_RUN) {
        size_t run = count - at < WI_FLOAT_RUN ? count - at : WI_FLOAT_RUN;
        for (size_t r = 0; r < WI_ROWS_AT_ONCE; r++) {
            if (linear) wi_load_linear(loaded[r], rows[r], at, run, kind, linear);
            else wi_load(loaded[r], rows[r], at, run, kind);
        }
        for (size_t s = 0; s < sum_count; s++) {
            float *restrict sum = sums[s] + 4 * at;
            const float w0 = weights[4 * s], w1 = weights[4 * s + 1];
            const float w2 = weights[4 * s + 2], w3 = weights[4 * s + 3];
            for (size_t i = 0; i < 4 * run; i++)
                sum[i] += (loaded[0][i] * w0 + loaded[1][i] * w1) + (loaded[2][i] * w2 + loaded[3][i] * w3);
        }
    }
}

WI_INLINE float wi_clamp(float value, float low, float high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}

// Colours are divided by alpha before either is rounded, so that even the faintest pixel keeps its hue.
WI_INLINE void wi_finish(float out[4], const float *in, float top, int straight) {
    float alpha = wi_clamp(in[3], 0, top);
    int seen = alpha >= 0.5f;
    float scale = straight && seen ? top / alpha : 1;
    for (int c = 0; c < 3; c++) out[c] = seen ? wi_clamp(in[c], 0, alpha) * scale + 0.5f : 0;
    out[3] = alpha + 0.5f;
}

// Converts from linear light, whose maximum is `top`, by interpolating in a table that is indexed by the square root.
WI_INLINE void wi_encode(float pixel[4], float top, const float *encoded, int straight) {
    float alpha = pixel[3] - 0.5f;
    float whole = straight || alpha <= 0 ? top : alpha;
    for (int c = 0; c < 3; c++) {
        float place = sqrtf(wi_clamp((pixel[c] - 0.5f) / whole, 0, 1)) * WI_ENCODE_STEPS;
        int index = (int)place;
        pixel[c] = (encoded[index] + (encoded[index + 1] - encoded[index]) * (place - (float)index)) * whole + 0.5f;
    }
}

WI_CLONES_FMA
void wi_store_row_8(uint8_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded) {
    for (size_t x = 0; x < width; x++) {
        float pixel[4];
        wi_finish(pixel, row + 4 * x, 255, straight);
        if (encoded) wi_encode(pixel, 255, encoded, straight);
        for (int c = 0; c < 4; c++) output[4 * x + c] = (uint8_t)wi_clamp(pixel[c], 0, 255);
    }
}

WI_CLONES_FMA
void wi_store_row_16(uint16_t *output, const float *row, size_t width, int straight, const float *_Nullable encoded) {
    for (size_t x = 0; x < width; x++) {
        float pixel[4];
        wi_finish(pixel, row + 4 * x, 65535, straight);
        if (encoded) wi_encode(pixel, 65535, encoded, straight);
        for (int c = 0; c < 4; c++) output[4 * x + c] = (uint16_t)wi_clamp(pixel[c], 0, 65535);
    }
}

WI_CLONES_FMA
void wi_clamp_row_float(float *row, size_t width, float top) {
    for (size_t x = 0; x < width; x++) {
        float alpha = wi_clamp(row[4 * x + 3], 0, top);
        for (int c = 0; c < 3; c++) row[4 * x + c] = wi_clamp(row[4 * x + c], 0, alpha);
        row[4 * x + 3] = alpha;
    }
}
