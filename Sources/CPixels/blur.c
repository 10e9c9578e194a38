// A small blur of bytes in both directions, with symmetric weights. Sums have 16 bits, with seven fraction bits. The part that
// products lose by truncation is compensated on average; the remaining error is at most a tenth of a level.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

// The number of channels that are processed at a time, and of the fraction bits.
enum { WI_BLUR_LANES = 64, WI_BLUR_BITS = 7 };
typedef uint8_t wi_bytes __attribute__((vector_size(WI_BLUR_LANES), aligned(1)));
typedef uint16_t wi_shorts __attribute__((vector_size(2 * WI_BLUR_LANES), aligned(2)));
typedef uint32_t wi_longs __attribute__((vector_size(4 * WI_BLUR_LANES)));

// Adds the upper halves of products, for which nearly every processor has an instruction.
WI_INLINE void wi_add_part(wi_shorts *sum, const wi_shorts *values, uint16_t weight) {
    const wi_shorts zero = {0}, weights = zero + weight;
    wi_longs product = __builtin_convertvector(*values, wi_longs) * __builtin_convertvector(weights, wi_longs);
    *sum += __builtin_convertvector(product >> 16, wi_shorts);
}

// The compensation for truncation: each product loses half a unit on average.
WI_INLINE uint16_t wi_lost(size_t reach) { return (uint16_t)((reach + 1) / 2); }

WI_INLINE void wi_blur_columns(
    uint16_t *sums, const uint8_t *_Nonnull const *_Nonnull rows, size_t at, size_t reach, const uint16_t *weights) {
    const wi_shorts zero = {0};
    wi_shorts sum = zero + wi_lost(reach);
    wi_shorts middle = __builtin_convertvector(*(const wi_bytes *)(rows[reach] + at), wi_shorts) << WI_BLUR_BITS;
    wi_add_part(&sum, &middle, weights[0]);
    for (size_t k = 1; k <= reach; k++) {
        wi_shorts pair = __builtin_convertvector(*(const wi_bytes *)(rows[reach - k] + at), wi_shorts);
        pair += __builtin_convertvector(*(const wi_bytes *)(rows[reach + k] + at), wi_shorts);
        pair <<= WI_BLUR_BITS;
        wi_add_part(&sum, &pair, weights[k]);
    }
    *(wi_shorts *)(sums + at) = sum;
}

WI_INLINE void wi_blur_across(uint8_t *output, const uint16_t *sums, size_t reach, const uint16_t *weights) {
    const wi_shorts zero = {0};
    wi_shorts sum = zero + (uint16_t)(wi_lost(reach) + (1 << (WI_BLUR_BITS - 1)));
    wi_shorts middle = *(const wi_shorts *)sums;
    wi_add_part(&sum, &middle, weights[0]);
    for (size_t k = 1; k <= reach; k++) {
        wi_shorts pair = *(const wi_shorts *)(sums - 4 * k) + *(const wi_shorts *)(sums + 4 * k);
        wi_add_part(&sum, &pair, weights[k]);
    }
    *(wi_bytes *)output = __builtin_convertvector(sum >> WI_BLUR_BITS, wi_bytes);
}

WI_CLONES
void wi_blur_columns_8(
    uint16_t *sums, const uint8_t *_Nonnull const *_Nonnull rows, size_t reach, const uint16_t *weights, size_t count) {
    size_t i = 0;
    for (; i + WI_BLUR_LANES <= count; i += WI_BLUR_LANES) wi_blur_columns(sums, rows, i, reach, weights);
    for (; i < count; i++) {
        uint32_t sum = wi_lost(reach) + (((uint32_t)rows[reach][i] << WI_BLUR_BITS) * weights[0] >> 16);
        for (size_t k = 1; k <= reach; k++) {
            sum += (((uint32_t)rows[reach - k][i] + rows[reach + k][i]) << WI_BLUR_BITS) * weights[k] >> 16;
        }
        sums[i] = (uint16_t)sum;
    }
}

WI_CLONES
void wi_blur_row_8(uint8_t *output, const uint16_t *sums, size_t reach, const uint16_t *weights, size_t count) {
    size_t i = 0;
    for (; i + WI_BLUR_LANES <= count; i += WI_BLUR_LANES) wi_blur_across(output + i, sums + i, reach, weights);
    for (; i < count; i++) {
        uint32_t sum = wi_lost(reach) + (1 << (WI_BLUR_BITS - 1)) + ((uint32_t)sums[i] * weights[0] >> 16);
        for (size_t k = 1; k <= reach; k++) {
            const uint16_t *at = sums + i;
            sum += ((uint32_t)at[-4 * (ptrdiff_t)k] + at[4 * k]) * weights[k] >> 16;
        }
        output[i] = (uint8_t)(sum >> WI_BLUR_BITS);
    }
}
