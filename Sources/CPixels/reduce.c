// Makes planes of samples smaller, for pictures that a decoder has decoded in full.
#include "CPixels.h"
#include "clones.h"

// The number of columns that are read at a time: a multiple of every factor of means by 2 and 4.
enum { WI_REDUCED_COLUMNS = 512 };

// MARK: means

WI_INLINE uint32_t wi_sum(const uint32_t *sums, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += sums[i];
    return sum;
}

// Means of whole blocks, with a constant number of columns where it is known.
#define WI_DIVIDE(across) \
    for (; block < whole; block++) row[block] = (sample)((wi_sum(sums + block * (across), across) + half) / count);

#define WI_MEANS(type, name) \
    WI_INLINE void name##_row( \
        type *row, const type *input, size_t stride, size_t rows, size_t width, size_t across) { \
        typedef type sample; \
        uint32_t sums[WI_REDUCED_COLUMNS]; \
        size_t step = WI_REDUCED_COLUMNS / across * across; \
        for (size_t start = 0; start < width; start += step, row += step / across) { \
            size_t columns = width - start < step ? width - start : step; \
            for (size_t i = 0; i < columns; i++) sums[i] = input[start + i]; \
            for (size_t r = 1; r < rows; r++) { \
                const type *line = input + r * stride + start; \
                for (size_t i = 0; i < columns; i++) sums[i] += line[i]; \
            } \
            size_t block = 0, whole = columns / across; \
            uint32_t count = (uint32_t)(rows * across), half = count / 2; \
            switch (across) { \
            case 2: WI_DIVIDE(2) break; \
            case 4: WI_DIVIDE(4) break; \
            default: WI_DIVIDE(across) \
            } \
            size_t rest = columns - whole * across; \
            if (rest > 0) { \
                count = (uint32_t)(rows * rest); \
                row[whole] = (type)((wi_sum(sums + whole * across, rest) + count / 2) / count); \
            } \
        } \
    } \
    WI_CLONES \
    void name( \
        type *output, size_t output_stride, const type *input, size_t stride, size_t width, size_t height, size_t across, \
        size_t down) { \
        for (size_t y = 0; y < height; y += down, output += output_stride, input += down * stride) { \
            name##_row(output, input, stride, height - y < down ? height - y : down, width, across); \
        } \
    }

WI_MEANS(uint8_t, wi_mean_plane_8)
WI_MEANS(uint16_t, wi_mean_plane_16)

// MARK: halves

// The weights of six neighbours are -2, 3, 15, 15, 3, -2, of 32. By least squares: up to an eighth of the sampling rate the filter
// changes nothing by more than 1.5 %, and of what would come out in that range from above it lets 7 % through at most, mostly less.
// Means of two would lose up to 8 %, and let up to 38 % through.
#define WI_SIX(a, b, c, d, e, f) (15 * ((c) + (d)) + 3 * ((b) + (e)) - 2 * ((a) + (f)))

WI_INLINE size_t wi_within(ptrdiff_t index, size_t count) {
    return index < 0 ? 0 : (size_t)index < count ? (size_t)index : count - 1;
}

// `sums` is the type of the sums of a column, times 32: from -4 to 36 times a sample.
#define WI_HALVES(type, sums, name) \
    WI_INLINE void name##_columns( \
        sums *column, const type *const rows[6], ptrdiff_t start, size_t count, size_t width, int is_down) { \
        size_t first = start < 0 ? (size_t)-start : 0; \
        size_t end = (size_t)((ptrdiff_t)width - start) < count ? (size_t)((ptrdiff_t)width - start) : count; \
        const type *a = rows[0] + start, *b = rows[1] + start, *c = rows[2] + start; \
        const type *d = rows[3] + start, *e = rows[4] + start, *f = rows[5] + start; \
        if (is_down) { \
            for (size_t i = first; i < end; i++) column[i] = (sums)WI_SIX(a[i], b[i], c[i], d[i], e[i], f[i]); \
        } else { \
            for (size_t i = first; i < end; i++) column[i] = (sums)(32 * c[i]); \
        } \
        for (size_t i = 0; i < first; i++) column[i] = column[first]; \
        for (size_t i = end; i < count; i++) column[i] = column[end - 1]; \
    } \
    WI_CLONES \
    void name( \
        type *output, size_t output_stride, const type *input, size_t stride, size_t width, size_t height, int is_across, \
        int is_down, uint32_t top) { \
        sums column[WI_REDUCED_COLUMNS + 5]; \
        size_t lines = is_down ? (height + 1) / 2 : height; \
        for (size_t y = 0; y < lines; y++, output += output_stride) { \
            const type *rows[6]; \
            for (int r = 0; r < 6; r++) { \
                rows[r] = input + wi_within((ptrdiff_t)(is_down ? 2 * y : y) + r - 2, height) * stride; \
            } \
            for (size_t start = 0; start < width; start += WI_REDUCED_COLUMNS) { \
                size_t columns = width - start < WI_REDUCED_COLUMNS ? width - start : WI_REDUCED_COLUMNS; \
                name##_columns(column, rows, (ptrdiff_t)start - 2, columns + 5, width, is_down); \
                type *row = output + (is_across ? start / 2 : start); \
                size_t count = is_across ? (columns + 1) / 2 : columns; \
                if (is_across) { \
                    for (size_t x = 0; x < count; x++) { \
                        const sums *w = column + 2 * x; \
                        int32_t sum = (WI_SIX((int32_t)w[0], w[1], w[2], w[3], w[4], w[5]) + 512) >> 10; \
                        row[x] = (type)(sum < 0 ? 0 : sum > (int32_t)top ? (int32_t)top : sum); \
                    } \
                } else { \
                    for (size_t x = 0; x < count; x++) { \
                        int32_t sum = (column[x + 2] + 16) >> 5; \
                        row[x] = (type)(sum < 0 ? 0 : sum > (int32_t)top ? (int32_t)top : sum); \
                    } \
                } \
            } \
        } \
    }

WI_HALVES(uint8_t, int16_t, wi_halve_plane_8)
WI_HALVES(uint16_t, int32_t, wi_halve_plane_16)
