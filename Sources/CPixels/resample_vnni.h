// The resampler's vertical pass with AVX-512 and VNNI: `vpdpwssd` multiplies, adds and accumulates thirty-two channels in one go.
#ifndef WI_RESAMPLE_VNNI_H
#define WI_RESAMPLE_VNNI_H

#if defined(__x86_64__)
#define WI_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define WI_HAS_VNNI (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
#include "CPixels.h"
#include <immintrin.h>

#pragma clang assume_nonnull begin

// The widened channels of two rows, alternating: sixteen channels of each.
WI_VNNI static inline __m512i wi_interleave_16(const uint8_t *a, const uint8_t *b) {
    __m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);
    return _mm512_cvtepu8_epi16(_mm256_set_m128i(_mm_unpackhi_epi8(x, y), _mm_unpacklo_epi8(x, y)));
}

// Two weights, repeated over the whole register.
WI_VNNI static inline __m512i wi_pair_16(const int16_t *weights) {
    int32_t pair;
    __builtin_memcpy(&pair, weights, sizeof pair);
    return _mm512_set1_epi32(pair);
}

// As wi_add_rows_8, for a number of channels that is a multiple of sixteen. Returns that number.
WI_VNNI static size_t wi_add_rows_8_vnni(
    int32_t *_Nonnull const *_Nonnull sums, const int16_t *weights, size_t sum_count,
    const uint8_t *_Nonnull const *_Nonnull rows, size_t count) {
    size_t at = 0;
    for (; at + 32 <= count; at += 32) {
        __m512i a01 = wi_interleave_16(rows[0] + at, rows[1] + at), a23 = wi_interleave_16(rows[2] + at, rows[3] + at);
        __m512i b01 = wi_interleave_16(rows[0] + at + 16, rows[1] + at + 16);
        __m512i b23 = wi_interleave_16(rows[2] + at + 16, rows[3] + at + 16);
        for (size_t s = 0; s < sum_count; s++) {
            __m512i w01 = wi_pair_16(weights + 4 * s), w23 = wi_pair_16(weights + 4 * s + 2);
            int32_t *sum = sums[s] + at;
            __m512i a = _mm512_loadu_si512(sum), b = _mm512_loadu_si512(sum + 16);
            a = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(a, a01, w01), a23, w23);
            b = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(b, b01, w01), b23, w23);
            _mm512_storeu_si512(sum, a);
            _mm512_storeu_si512(sum + 16, b);
        }
    }
    return at;
}

#pragma clang assume_nonnull end
#endif

#endif
