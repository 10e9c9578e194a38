// The integer kernels of the resampler with AVX2: `vpmaddwd` multiplies and adds sixteen channels in one go.
#ifndef WI_RESAMPLE_AVX2_H
#define WI_RESAMPLE_AVX2_H

#if defined(__x86_64__)
#define WI_AVX2 __attribute__((target("avx2")))
#define WI_HAS_AVX2 __builtin_cpu_supports("avx2")
#include "CPixels.h"
#include <immintrin.h>

#pragma clang assume_nonnull begin

// Two weights, repeated over the whole register.
WI_AVX2 static inline __m256i wi_pair(const int16_t *weights) {
    int32_t pair;
    __builtin_memcpy(&pair, weights, sizeof pair);
    return _mm256_set1_epi32(pair);
}

// The widened channels of two rows, alternating: the first eight and the last eight of sixteen channels.
WI_AVX2 static inline void wi_interleave(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high) {
    __m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);
    *low = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
    *high = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(x, y));
}

WI_AVX2 static inline void wi_accumulate(int32_t *sum, __m256i value) {
    _mm256_storeu_si256((__m256i *)sum, _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)sum), value));
}

// As wi_add_rows_8, for a number of channels that is a multiple of sixteen. Returns that number.
WI_AVX2 static size_t wi_add_rows_8_avx2(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count) {
    size_t at = 0;
    for (; at + 16 <= count; at += 16) {
        __m256i low01, high01, low23, high23;
        wi_interleave(rows[0] + at, rows[1] + at, &low01, &high01);
        wi_interleave(rows[2] + at, rows[3] + at, &low23, &high23);
        for (size_t s = 0; s < sum_count; s++) {
            __m256i w01 = wi_pair(weights + 4 * s), w23 = wi_pair(weights + 4 * s + 2);
            int32_t *sum = sums[s] + at;
            wi_accumulate(sum, _mm256_add_epi32(_mm256_madd_epi16(low01, w01), _mm256_madd_epi16(low23, w23)));
            wi_accumulate(sum + 8, _mm256_add_epi32(_mm256_madd_epi16(high01, w01), _mm256_madd_epi16(high23, w23)));
        }
    }
    return at;
}

// The weighted sum of one pixel's window; `taps` is a multiple of 4.
WI_AVX2 static inline __m128i wi_filter_pixel_avx2(const int16_t *pixel, const int16_t *weight, size_t taps) {
    // Two pixels are interleaved: both reds, then both greens, blues and alphas.
    const __m256i pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    __m256i sums = _mm256_setzero_si256();
    for (size_t k = 0; k < taps; k += 4) {
        __m256i four = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(pixel + 4 * k)), pairs);
        __m256i scale = _mm256_permutevar8x32_epi32(
            _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(weight + k))), spread);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(four, scale));
    }
    return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

// As wi_filter_row_8.
WI_AVX2 static void wi_filter_row_8_avx2(
    uint8_t *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
    for (size_t x = 0; x < width; x++) {
        __m128i sum = wi_filter_pixel_avx2(row + 4 * (ptrdiff_t)starts[x], weights + x * taps, taps);
        sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(1 << (WI_WEIGHT_BITS + 5))), WI_WEIGHT_BITS + 6);
        sum = _mm_packs_epi32(sum, sum);
        int32_t packed = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
        __builtin_memcpy(output + 4 * x, &packed, sizeof packed);
    }
}

// As wi_filter_row_8_float.
WI_AVX2 static void wi_filter_row_8_float_avx2(
    float *output, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, size_t width) {
    const __m128 unit = _mm_set1_ps(WI_FILTERED_UNIT), one = _mm_set1_ps(1);
    for (size_t x = 0; x < width; x++) {
        __m128i sum = wi_filter_pixel_avx2(row + 4 * (ptrdiff_t)starts[x], weights + x * taps, taps);
        __m128 value = _mm_max_ps(_mm_mul_ps(_mm_cvtepi32_ps(sum), unit), _mm_setzero_ps());
        _mm_storeu_ps(output + 4 * x, _mm_min_ps(value, one));
    }
}

#pragma clang assume_nonnull end
#endif

#endif
