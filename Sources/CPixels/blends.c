// Blend modes over runs of pixels (W3C Compositing and Blending Level 1; the four non-separable modes are in section 5.8.2).
#include "CPixels.h"
#include <math.h>
#include "clones.h"
#include "planes.h"

WI_INLINE float wi_least(float x, float y) { return x < y ? x : y; }
WI_INLINE float wi_most(float x, float y) { return x > y ? x : y; }

WI_INLINE float wi_screen(float b, float s) { return b + s - b * s; }
WI_INLINE float wi_hard_light(float b, float s) { return s <= 0.5f ? b * 2 * s : wi_screen(b, 2 * s - 1); }
// Black and white are special cases in the functions below. Values within a rounding error of them count as black or white.
enum { WI_STEPS_TO_WHITE = 1000000 };
WI_INLINE int wi_is_black(float value) { return value * WI_STEPS_TO_WHITE <= 1; }
WI_INLINE int wi_is_white(float value) { return wi_is_black(1 - value); }
WI_INLINE float wi_color_dodge(float b, float s) {
    return wi_is_black(b) ? 0 : wi_is_white(s) ? 1 : wi_least(1, b / (1 - s));
}
WI_INLINE float wi_color_burn(float b, float s) {
    return wi_is_white(b) ? 1 : wi_is_black(s) ? 0 : 1 - wi_least(1, (1 - b) / s);
}
WI_INLINE float wi_soft_light(float b, float s) {
    float d = b <= 0.25f ? ((16 * b - 12) * b + 4) * b : sqrtf(b);
    return s <= 0.5f ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b);
}

// A separable mode: `blended` is its function of backdrop `b` and source `s`. Without a backdrop, the source itself shows.
#define WI_SEPARABLE(name, blended)                                                                        \
    WI_INLINE float name##_channel(float b, float s) { return blended; }                                   \
    WI_CLONES_FMA                                                                                          \
    static void name(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {               \
        for (size_t i = 0; i < count; i++) {                                                               \
            float as = top->a[i], ab = run->a[i];                                                          \
            float whole = as + ab - as * ab, scale = whole > 0 ? 1 / whole : 0;                            \
            float alone = as * (1 - ab) * scale, both = as * ab * scale, below = (1 - as) * ab * scale;    \
            run->r[i] = alone * top->r[i] + both * name##_channel(run->r[i], top->r[i]) + below * run->r[i]; \
            run->g[i] = alone * top->g[i] + both * name##_channel(run->g[i], top->g[i]) + below * run->g[i]; \
            run->b[i] = alone * top->b[i] + both * name##_channel(run->b[i], top->b[i]) + below * run->b[i]; \
            run->a[i] = whole;                                                                             \
        }                                                                                                  \
    }

WI_SEPARABLE(wi_blend_normal, ((void)b, s))
WI_SEPARABLE(wi_blend_multiply, b *s)
WI_SEPARABLE(wi_blend_screen, wi_screen(b, s))
WI_SEPARABLE(wi_blend_overlay, wi_hard_light(s, b))
WI_SEPARABLE(wi_blend_darken, wi_least(b, s))
WI_SEPARABLE(wi_blend_lighten, wi_most(b, s))
WI_SEPARABLE(wi_blend_color_dodge, wi_color_dodge(b, s))
WI_SEPARABLE(wi_blend_color_burn, wi_color_burn(b, s))
WI_SEPARABLE(wi_blend_hard_light, wi_hard_light(b, s))
WI_SEPARABLE(wi_blend_soft_light, wi_soft_light(b, s))
WI_SEPARABLE(wi_blend_difference, fabsf(b - s))
WI_SEPARABLE(wi_blend_exclusion, b + s - 2 * b * s)

// A Porter-Duff operator: the factors of the source and of the backdrop, each as a function of the other's alpha.
#define WI_PORTER_DUFF(name, of_source, of_backdrop)                                         \
    WI_CLONES_FMA                                                                            \
    static void name(wi_planes *restrict run, const wi_planes *restrict top, size_t count) { \
        for (size_t i = 0; i < count; i++) {                                                 \
            float as = top->a[i], ab = run->a[i];                                            \
            float source = as * (of_source), backdrop = ab * (of_backdrop);                  \
            float whole = source + backdrop, scale = whole > 0 ? 1 / whole : 0;              \
            source *= scale, backdrop *= scale;                                              \
            run->r[i] = source * top->r[i] + backdrop * run->r[i];                           \
            run->g[i] = source * top->g[i] + backdrop * run->g[i];                           \
            run->b[i] = source * top->b[i] + backdrop * run->b[i];                           \
            run->a[i] = whole;                                                               \
        }                                                                                    \
    }

WI_PORTER_DUFF(wi_blend_clear, 0, 0)
WI_PORTER_DUFF(wi_blend_source, 1, 0)
WI_PORTER_DUFF(wi_blend_source_in, ab, 0)
WI_PORTER_DUFF(wi_blend_source_out, 1 - ab, 0)
WI_PORTER_DUFF(wi_blend_source_atop, ab, 1 - as)
WI_PORTER_DUFF(wi_blend_destination_over, 1 - ab, 1)
WI_PORTER_DUFF(wi_blend_destination_in, 0, as)
WI_PORTER_DUFF(wi_blend_destination_out, 0, 1 - as)
WI_PORTER_DUFF(wi_blend_destination_atop, 1 - ab, as)
WI_PORTER_DUFF(wi_blend_xor, 1 - ab, 1 - as)

// Sums of premultiplied colours, limited to white. The darker mode instead subtracts both distances from white.
WI_CLONES_FMA
static void wi_blend_plus_lighter(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float as = top->a[i], ab = run->a[i], whole = wi_least(1, as + ab), scale = whole > 0 ? 1 / whole : 0;
        run->r[i] = wi_least(whole, as * top->r[i] + ab * run->r[i]) * scale;
        run->g[i] = wi_least(whole, as * top->g[i] + ab * run->g[i]) * scale;
        run->b[i] = wi_least(whole, as * top->b[i] + ab * run->b[i]) * scale;
        run->a[i] = whole;
    }
}

WI_CLONES_FMA
static void wi_blend_plus_darker(wi_planes *restrict run, const wi_planes *restrict top, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float as = top->a[i], ab = run->a[i], whole = wi_least(1, as + ab), scale = whole > 0 ? 1 / whole : 0;
        run->r[i] = wi_most(0, whole - as * (1 - top->r[i]) - ab * (1 - run->r[i])) * scale;
        run->g[i] = wi_most(0, whole - as * (1 - top->g[i]) - ab * (1 - run->g[i])) * scale;
        run->b[i] = wi_most(0, whole - as * (1 - top->b[i]) - ab * (1 - run->b[i])) * scale;
        run->a[i] = whole;
    }
}

WI_INLINE float wi_luminosity(const float c[3]) { return 0.3f * c[0] + 0.59f * c[1] + 0.11f * c[2]; }

WI_INLINE float wi_saturation(const float c[3]) {
    return wi_most(wi_most(c[0], c[1]), c[2]) - wi_least(wi_least(c[0], c[1]), c[2]);
}

WI_INLINE void wi_set_luminosity(float c[3], float target) {
    float shift = target - wi_luminosity(c);
    for (int k = 0; k < 3; k++) c[k] += shift;
    float low = wi_least(wi_least(c[0], c[1]), c[2]), high = wi_most(wi_most(c[0], c[1]), c[2]);
    for (int k = 0; k < 3; k++) {
        if (low < 0) c[k] = target + (c[k] - target) * target / (target - low);
        if (high > 1) c[k] = target + (c[k] - target) * (1 - target) / (high - target);
    }
}

WI_INLINE void wi_set_saturation(float c[3], float saturation) {
    float low = wi_least(wi_least(c[0], c[1]), c[2]), range = wi_saturation(c);
    for (int k = 0; k < 3; k++) c[k] = range > 0 ? (c[k] - low) * saturation / range : 0;
}

static void wi_blend_whole_color(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode) {
    for (size_t i = 0; i < count; i++) {
        const float backdrop[3] = {run->r[i], run->g[i], run->b[i]};
        const float source[3] = {top->r[i], top->g[i], top->b[i]};
        float c[3];
        for (int k = 0; k < 3; k++) c[k] = mode == WI_BLEND_SATURATION || mode == WI_BLEND_LUMINOSITY ? backdrop[k] : source[k];
        if (mode == WI_BLEND_HUE) wi_set_saturation(c, wi_saturation(backdrop));
        if (mode == WI_BLEND_SATURATION) wi_set_saturation(c, wi_saturation(source));
        wi_set_luminosity(c, wi_luminosity(mode == WI_BLEND_LUMINOSITY ? source : backdrop));
        float as = top->a[i], ab = run->a[i], whole = as + ab - as * ab, scale = whole > 0 ? 1 / whole : 0;
        float mixed[3];
        for (int k = 0; k < 3; k++)
            mixed[k] = (as * (1 - ab) * source[k] + as * ab * c[k] + (1 - as) * ab * backdrop[k]) * scale;
        run->r[i] = mixed[0];
        run->g[i] = mixed[1];
        run->b[i] = mixed[2];
        run->a[i] = whole;
    }
}

void wi_run_blend(wi_planes *run, const wi_planes *top, size_t count, wi_blend_mode mode) {
    switch (mode) {
    case WI_BLEND_NORMAL: wi_blend_normal(run, top, count); break;
    case WI_BLEND_MULTIPLY: wi_blend_multiply(run, top, count); break;
    case WI_BLEND_SCREEN: wi_blend_screen(run, top, count); break;
    case WI_BLEND_OVERLAY: wi_blend_overlay(run, top, count); break;
    case WI_BLEND_DARKEN: wi_blend_darken(run, top, count); break;
    case WI_BLEND_LIGHTEN: wi_blend_lighten(run, top, count); break;
    case WI_BLEND_COLOR_DODGE: wi_blend_color_dodge(run, top, count); break;
    case WI_BLEND_COLOR_BURN: wi_blend_color_burn(run, top, count); break;
    case WI_BLEND_SOFT_LIGHT: wi_blend_soft_light(run, top, count); break;
    case WI_BLEND_HARD_LIGHT: wi_blend_hard_light(run, top, count); break;
    case WI_BLEND_DIFFERENCE: wi_blend_difference(run, top, count); break;
    case WI_BLEND_EXCLUSION: wi_blend_exclusion(run, top, count); break;
    case WI_BLEND_HUE:
    case WI_BLEND_SATURATION:
    case WI_BLEND_COLOR:
    case WI_BLEND_LUMINOSITY: wi_blend_whole_color(run, top, count, mode); break;
    case WI_BLEND_CLEAR: wi_blend_clear(run, top, count); break;
    case WI_BLEND_SOURCE: wi_blend_source(run, top, count); break;
    case WI_BLEND_SOURCE_IN: wi_blend_source_in(run, top, count); break;
    case WI_BLEND_SOURCE_OUT: wi_blend_source_out(run, top, count); break;
    case WI_BLEND_SOURCE_ATOP: wi_blend_source_atop(run, top, count); break;
    case WI_BLEND_DESTINATION_OVER: wi_blend_destination_over(run, top, count); break;
    case WI_BLEND_DESTINATION_IN: wi_blend_destination_in(run, top, count); break;
    case WI_BLEND_DESTINATION_OUT: wi_blend_destination_out(run, top, count); break;
    case WI_BLEND_DESTINATION_ATOP: wi_blend_destination_atop(run, top, count); break;
    case WI_BLEND_XOR: wi_blend_xor(run, top, count); break;
    case WI_BLEND_PLUS_DARKER: wi_blend_plus_darker(run, top, count); break;
    case WI_BLEND_PLUS_LIGHTER: wi_blend_plus_lighter(run, top, count); break;
    }
}
