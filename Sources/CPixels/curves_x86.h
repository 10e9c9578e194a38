// Colour curves, for sixteen values at a time: the three coefficients of each value are looked up in registers.
#ifndef WI_CURVES_X86_H
#define WI_CURVES_X86_H

#if defined(__x86_64__)
#define WI_CURVES __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))
#include <immintrin.h>

#pragma clang assume_nonnull begin

WI_INLINE WI_CURVES void wi_apply_curve(wi_floats *part, const __m512 *curve) {
    __m512 x = (__m512)*part;
    __m512i place = _mm512_srli_epi32((__m512i)*part, 21);
    __m512 first = _mm512_permutex2var_ps(curve[0], place, curve[1]);
    __m512 second = _mm512_permutex2var_ps(curve[2], place, curve[3]);
    __m512 third = _mm512_permutex2var_ps(curve[4], place, curve[5]);
    *part = (wi_floats)_mm512_fmadd_ps(_mm512_fmadd_ps(third, x, second), x, first);
}

WI_CURVES static void wi_curve_pixels_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count,
    const float *curve, int opaque) {
    __m512 numbers[6];
    for (int k = 0; k < 6; k++) numbers[k] = _mm512_loadu_ps(curve + 16 * k);
    for (size_t i = 0; i < count; i += WI_LANES) {
        wi_colors colors;
        wi_words alpha;
        wi_load_colors(&colors, &alpha, input + 4 * i, opaque);
        wi_take_steps(&colors, steps, step_count);
        wi_apply_curve(&colors.r, numbers);
        wi_apply_curve(&colors.g, numbers);
        wi_apply_curve(&colors.b, numbers);
        wi_store_colors(output + 4 * i, &colors, &alpha);
    }
}

#pragma clang assume_nonnull end
#endif

#endif
