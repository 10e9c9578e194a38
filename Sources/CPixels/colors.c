// Chains of operations on colours. Sixteen pixels pass through all operations in registers, with the conversions from bytes to
// floats and back included, so that a chain takes little longer than one operation.
#include "CPixels.h"
#include <string.h>
#include "clones.h"
#include "planes.h"

enum { WI_LANES = 16 };
typedef float wi_floats __attribute__((vector_size(4 * WI_LANES), aligned(4)));
typedef int32_t wi_ints __attribute__((vector_size(4 * WI_LANES), aligned(4)));
typedef uint32_t wi_words __attribute__((vector_size(4 * WI_LANES), aligned(4)));

// Vectors are always passed by pointer: as arguments they would need caller and callee to be compiled for the same processor.
typedef struct wi_colors {
    wi_floats r, g, b;
} wi_colors;

WI_INLINE void wi_hold(wi_colors *colors, const wi_color_step *step) {
    const wi_floats zero = {0};
    if (step->holds_low) {
        colors->r = __builtin_elementwise_max(colors->r, zero + step->low[0]);
        colors->g = __builtin_elementwise_max(colors->g, zero + step->low[1]);
        colors->b = __builtin_elementwise_max(colors->b, zero + step->low[2]);
    }
    if (step->holds_high) {
        colors->r = __builtin_elementwise_min(colors->r, zero + step->high[0]);
        colors->g = __builtin_elementwise_min(colors->g, zero + step->high[1]);
        colors->b = __builtin_elementwise_min(colors->b, zero + step->high[2]);
    }
}

// Sets `out` to `r * weights[0] + g * weights[1] + b * weights[2] + weights[3]`.
WI_INLINE void wi_weigh(wi_floats *out, const wi_colors *in, const float *weights) {
    *out = in->r * weights[0] + weights[3];
    *out = in->g * weights[1] + *out;
    *out = in->b * weights[2] + *out;
}

#define WI_EACH(c) _Pragma("clang loop unroll(full)") for (int c = 0; c < 3; c++)

// Raises values from 0 to 1 to a power: takes the logarithm to the base 2, multiplies it, and takes the power of two. The
// polynomial of the logarithm is fitted around 1, to where the exponent has been split off, and that of the power around 0. They
// are exact to six and five and a half digits, or in the brief form to four, which suffices for bytes. One to any power stays one.
// The three channels are computed in parallel, since each step waits for the previous one.
WI_INLINE void wi_raise(wi_colors *colors, float power, int is_brief) {
    const int32_t half_root = 0x3F3504F3;
    // When a number is added to one this large, its integer part is in the lowest bits of the sum.
    const float large = 12582912;
    wi_floats *parts[3] = {&colors->r, &colors->g, &colors->b};
    const wi_floats zero = {0};
    wi_floats x[3], y[3], exponent[3];
    wi_ints whole[3];
    WI_EACH(c) {
        wi_ints bits = (wi_ints)*parts[c], shift = (bits - half_root) >> 23;
        exponent[c] = __builtin_convertvector(shift, wi_floats);
        x[c] = (wi_floats)(bits - (shift << 23)) - 1;
    }
    if (is_brief) {
        WI_EACH(c) y[c] = x[c] * 0.254751888f - 0.390892546f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.485306534f;
        WI_EACH(c) y[c] = y[c] * x[c] - 0.720554967f;
        WI_EACH(c) y[c] = y[c] * x[c] + 1.44264625f;
    } else {
        WI_EACH(c) y[c] = x[c] * 0.171624572f - 0.269320291f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.295699543f;
        WI_EACH(c) y[c] = y[c] * x[c] - 0.359371637f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.480626767f;
        WI_EACH(c) y[c] = y[c] * x[c] - 0.721363576f;
        WI_EACH(c) y[c] = y[c] * x[c] + 1.44269645f;
    }
    WI_EACH(c) y[c] = y[c] * x[c] + exponent[c];
    /* Above 0 the result is over 1, which is cut off in any case, and the exponent could overflow. */
    WI_EACH(c) y[c] = __builtin_elementwise_min(__builtin_elementwise_max(y[c] * power, zero - 125), zero);
    WI_EACH(c) {
        wi_floats moved = y[c] + large;
        whole[c] = (wi_ints)moved << 23;
        x[c] = y[c] - (moved - large);
    }
    if (is_brief) {
        WI_EACH(c) y[c] = x[c] * 0.0550089313f + 0.242210968f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.693282928f;
    } else {
        WI_EACH(c) y[c] = x[c] * 0.00958285324f + 0.0559064259f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.240240986f;
        WI_EACH(c) y[c] = y[c] * x[c] + 0.693124193f;
    }
    WI_EACH(c) y[c] = y[c] * x[c] + 1;
    WI_EACH(c) {
        wi_ints raised = ((wi_ints)y[c] + whole[c]) & (wi_ints)(*parts[c] > zero + 1e-6f);
        *parts[c] = __builtin_elementwise_min((wi_floats)raised, zero + 1);
    }
}

WI_INLINE void wi_take_steps(wi_colors *colors, const wi_color_step *steps, size_t step_count) {
    for (size_t s = 0; s < step_count; s++) {
        const float *values = steps[s].values;
        switch (steps[s].kind) {
        case WI_COLOR_SCALE:
            colors->r = colors->r * values[0] + values[3];
            colors->g = colors->g * values[5] + values[7];
            colors->b = colors->b * values[10] + values[11];
            wi_hold(colors, steps + s);
            break;
        case WI_COLOR_MATRIX: {
            wi_colors in = *colors;
            wi_weigh(&colors->r, &in, values);
            wi_weigh(&colors->g, &in, values + 4);
            wi_weigh(&colors->b, &in, values + 8);
            wi_hold(colors, steps + s);
            break;
        }
        case WI_COLOR_POWER: wi_raise(colors, values[0], 0); break;
        case WI_COLOR_BRIEF_POWER: wi_raise(colors, values[0], 1); break;
        }
    }
}

WI_CLONES_WIDE
void wi_run_colors(wi_planes *run, size_t count, const wi_color_step *steps, size_t step_count) {
    // A run has room for whole vectors, so that `count` may be exceeded.
    for (size_t i = 0; i < count; i += WI_LANES) {
        wi_colors colors = {
            *(const wi_floats *)(run->r + i), *(const wi_floats *)(run->g + i), *(const wi_floats *)(run->b + i)};
        wi_take_steps(&colors, steps, step_count);
        *(wi_floats *)(run->r + i) = colors.r;
        *(wi_floats *)(run->g + i) = colors.g;
        *(wi_floats *)(run->b + i) = colors.b;
    }
}

WI_INLINE void wi_load_colors(wi_colors *colors, wi_words *alpha, const uint8_t *input, int opaque) {
    wi_words pixels;
    memcpy(&pixels, input, sizeof pixels);
    *alpha = opaque ? (pixels | 0xFF000000u) & 0xFF000000u : pixels & 0xFF000000u;
    // The colours of invisible pixels must not become visible, so that they are set to black.
    if (!opaque) pixels &= (wi_words)(*alpha != 0);
    colors->r = __builtin_convertvector((wi_ints)(pixels & 255), wi_floats);
    colors->g = __builtin_convertvector((wi_ints)(pixels >> 8 & 255), wi_floats);
    colors->b = __builtin_convertvector((wi_ints)(pixels >> 16 & 255), wi_floats);
}

WI_INLINE void wi_store_colors(uint8_t *output, const wi_colors *colors, const wi_words *alpha) {
    wi_words pixels = *alpha | (wi_words)__builtin_convertvector(colors->r, wi_ints);
    pixels |= (wi_words)__builtin_convertvector(colors->g, wi_ints) << 8;
    pixels |= (wi_words)__builtin_convertvector(colors->b, wi_ints) << 16;
    memcpy(output, &pixels, sizeof pixels);
}

// Processes a whole number of vectors. (The declaration is needed: without it, a clone may not use vectors as wide.)
static void wi_color_pixels_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count, int opaque);

WI_CLONES_WIDE
static void wi_color_pixels_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count, int opaque) {
    for (size_t i = 0; i < count; i += WI_LANES) {
        wi_colors colors;
        wi_words alpha;
        wi_load_colors(&colors, &alpha, input + 4 * i, opaque);
        wi_take_steps(&colors, steps, step_count);
        wi_store_colors(output + 4 * i, &colors, &alpha);
    }
}

#include "curves_x86.h"

// Processes a whole number of vectors.
static void wi_color_vectors_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count,
    const float *curve, int opaque) {
#ifdef WI_CURVES
    if (curve) return wi_curve_pixels_8(output, input, count, steps, step_count, curve, opaque);
#endif
    (void)curve;
    wi_color_pixels_8(output, input, count, steps, step_count, opaque);
}

int wi_has_color_curves(void) {
#ifdef WI_CURVES
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}

void wi_color_row_8(
    uint8_t *output, const uint8_t *input, size_t count, const wi_color_step *steps, size_t step_count,
    const float *curve, int opaque) {
    size_t whole = count / WI_LANES * WI_LANES;
    wi_color_vectors_8(output, input, whole, steps, step_count, curve, opaque);
    if (whole == count) return;
    uint8_t rest[4 * WI_LANES] = {0};
    memcpy(rest, input + 4 * whole, 4 * (count - whole));
    wi_color_vectors_8(rest, rest, WI_LANES, steps, step_count, curve, opaque);
    memcpy(output + 4 * whole, rest, 4 * (count - whole));
}
