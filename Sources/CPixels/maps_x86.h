// Look-up of bytes in a table of 256 bytes that is held in registers. With AVX-512 there are four registers of 64 bytes, of which
// an instruction looks up two at a time. With AVX2 there are sixteen of sixteen bytes, and the upper bits of a byte choose among
// the results.
#ifndef WI_MAPS_X86_H
#define WI_MAPS_X86_H

#if defined(__x86_64__)
#define WI_MAPS_AVX2 __attribute__((target("avx2")))
#define WI_MAPS_AVX512 __attribute__((target("avx512vbmi,avx512bw")))
#include "CPixels.h"
#include <immintrin.h>

#pragma clang assume_nonnull begin

// The AVX-512 version of the function below, for a number of pixels that is a multiple of sixteen.
WI_MAPS_AVX512 static size_t wi_map_row_8_avx512(
    uint8_t *output, const uint8_t *input, size_t count, const uint8_t *table, int opaque) {
    const __m512i first = _mm512_loadu_si512(table), second = _mm512_loadu_si512(table + 64);
    const __m512i third = _mm512_loadu_si512(table + 128), fourth = _mm512_loadu_si512(table + 192);
    const __m512i alphas = _mm512_set1_epi32((int32_t)0xFF000000);
    const __mmask64 alpha_bytes = 0x8888888888888888;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i pixels = _mm512_loadu_si512(input + 4 * i);
        if (!opaque) pixels = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(pixels, alphas), pixels);
        __m512i low = _mm512_permutex2var_epi8(first, pixels, second);
        __m512i high = _mm512_permutex2var_epi8(third, pixels, fourth);
        __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(pixels), low, high);
        _mm512_storeu_si512(output + 4 * i, _mm512_mask_blend_epi8(alpha_bytes, found, opaque ? alphas : pixels));
    }
    return i;
}

// As wi_map_row_8 with one table for all channels, for a number of pixels that is a multiple of eight. Returns that number.
WI_MAPS_AVX2 static size_t wi_map_row_8_avx2(
    uint8_t *output, const uint8_t *input, size_t count, const uint8_t *table, int opaque) {
    __m256i part[16];
    for (int k = 0; k < 16; k++) {
        part[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
    }
    const __m256i alphas = _mm256_set1_epi32((int32_t)0xFF000000), zero = _mm256_setzero_si256();
    const __m256i lower = _mm256_set1_epi8(15);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i pixels = _mm256_loadu_si256((const __m256i *)(input + 4 * i));
        __m256i alpha = _mm256_and_si256(opaque ? alphas : pixels, alphas);
        if (!opaque) pixels = _mm256_andnot_si256(_mm256_cmpeq_epi32(alpha, zero), pixels);
        __m256i index = _mm256_and_si256(pixels, lower), found[4];
        // A blend chooses by the uppermost bit of each byte. Bits 4 to 7 are shifted there, one after the other.
        __m256i by4 = _mm256_slli_epi16(pixels, 3), by5 = _mm256_slli_epi16(pixels, 2), by6 = _mm256_slli_epi16(pixels, 1);
        for (int k = 0; k < 4; k++) {
            __m256i a = _mm256_blendv_epi8(
                _mm256_shuffle_epi8(part[4 * k], index), _mm256_shuffle_epi8(part[4 * k + 1], index), by4);
            __m256i b = _mm256_blendv_epi8(
                _mm256_shuffle_epi8(part[4 * k + 2], index), _mm256_shuffle_epi8(part[4 * k + 3], index), by4);
            found[k] = _mm256_blendv_epi8(a, b, by5);
        }
        __m256i low = _mm256_blendv_epi8(found[0], found[1], by6), high = _mm256_blendv_epi8(found[2], found[3], by6);
        found[0] = _mm256_blendv_epi8(low, high, pixels);
        _mm256_storeu_si256((__m256i *)(output + 4 * i), _mm256_blendv_epi8(found[0], alpha, alphas));
    }
    return i;
}

#pragma clang assume_nonnull end
#endif

#endif
