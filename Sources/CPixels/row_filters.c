// Applies and undoes the filters of PNG's rows (PNG specification, section 9).
#include "CPixels.h"
#include <string.h>
#include "clones.h"

// MARK: Filtering

WI_CLONES static uint32_t wi_filter_none(const uint8_t *restrict row, uint8_t *restrict out, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t value = row[i];
        out[i] = value;
        sum += value < 128 ? value : 256 - value;
    }
    return sum;
}

// The filters that subtract one byte: the one to the left, or the one above.
WI_CLONES static uint32_t wi_filter_one(
    const uint8_t *row, const uint8_t *other, uint8_t *restrict out, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t value = row[i] - other[i];
        out[i] = value;
        sum += value < 128 ? value : 256 - value;
    }
    return sum;
}

WI_CLONES static uint32_t wi_filter_average(
    const uint8_t *row, const uint8_t *left, const uint8_t *restrict above, uint8_t *restrict out, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t value = row[i] - (uint8_t)((left[i] + above[i]) >> 1);
        out[i] = value;
        sum += value < 128 ? value : 256 - value;
    }
    return sum;
}

WI_CLONES static uint32_t wi_filter_paeth(
    const uint8_t *row, const uint8_t *left, const uint8_t *restrict above, const uint8_t *restrict corner,
    uint8_t *restrict out, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        int16_t a = left[i], b = above[i], c = corner[i];
        int16_t to_a = b - c, to_b = a - c, to_c = to_a + to_b;
        to_a = to_a < 0 ? -to_a : to_a;
        to_b = to_b < 0 ? -to_b : to_b;
        to_c = to_c < 0 ? -to_c : to_c;
        uint8_t nearest = (uint8_t)(to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c);
        uint8_t value = row[i] - nearest;
        out[i] = value;
        sum += value < 128 ? value : 256 - value;
    }
    return sum;
}

uint32_t wi_png_filter(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t pixel) {
    switch (filter) {
    case 1: return wi_filter_one(row, row - pixel, out, count);
    case 2: return wi_filter_one(row, above, out, count);
    case 3: return wi_filter_average(row, row - pixel, above, out, count);
    case 4: return wi_filter_paeth(row, row - pixel, above, above - pixel, out, count);
    default: return wi_filter_none(row, out, count);
    }
}

// MARK: Undoing filters, for pixels of three or four bytes that become RGBA

typedef uint8_t wi_bytes4 __attribute__((vector_size(4)));
typedef uint8_t wi_bytes8 __attribute__((vector_size(8)));
typedef int16_t wi_words4 __attribute__((vector_size(8)));
typedef int16_t wi_words8 __attribute__((vector_size(16)));

WI_INLINE wi_words4 wi_load4(const uint8_t *pixel) {
    wi_bytes4 bytes;
    memcpy(&bytes, pixel, sizeof bytes);
    return __builtin_convertvector(bytes, wi_words4);
}

// Loads one pixel of each of two rows.
WI_INLINE wi_words8 wi_load8(const uint8_t *first, const uint8_t *second) {
    wi_bytes4 one, other;
    memcpy(&one, first, sizeof one);
    memcpy(&other, second, sizeof other);
    return __builtin_convertvector(__builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7), wi_words8);
}

WI_INLINE void wi_store4(uint8_t *pixel, wi_words4 words, int channels) {
    wi_bytes4 bytes = __builtin_convertvector(words, wi_bytes4);
    if (channels == 3) bytes[3] = 255;
    memcpy(pixel, &bytes, sizeof bytes);
}

WI_INLINE void wi_store8(uint8_t *first, uint8_t *second, wi_words8 words, int channels) {
    wi_bytes8 bytes = __builtin_convertvector(words, wi_bytes8);
    if (channels == 3) bytes[3] = bytes[7] = 255;
    memcpy(first, &bytes, 4);
    memcpy(second, (const uint8_t *)&bytes + 4, 4);
}

// The value that a filter predicts for a pixel from the pixels to the left (a), above (b) and above left (c). Paeth's filter
// predicts the one that is nearest to a + b - c, and the first of them if there is a tie.
#define WI_EXPECTED(name, words)                                                                                    \
    WI_INLINE words name(int filter, words a, words b, words c) {                                                   \
        if (filter == 1) return a;                                                                                  \
        if (filter == 3) return (a + b) >> 1;                                                                       \
        words to_a = b - c, to_b = a - c, to_c = __builtin_elementwise_abs(to_a + to_b);                            \
        to_a = __builtin_elementwise_abs(to_a);                                                                     \
        to_b = __builtin_elementwise_abs(to_b);                                                                     \
        words least = __builtin_elementwise_min(to_c, __builtin_elementwise_min(to_a, to_b));                       \
        words is_a = least == to_a, is_b = least == to_b;                                                           \
        return (is_a & a) | (~is_a & ((is_b & b) | (~is_b & c)));                                                   \
    }
WI_EXPECTED(wi_expected4, wi_words4)
WI_EXPECTED(wi_expected8, wi_words8)

static const wi_words4 wi_byte4 = {255, 255, 255, 255};
static const wi_words8 wi_byte8 = {255, 255, 255, 255, 255, 255, 255, 255};

// Undoes the filters that do not use the pixel to the left.
WI_INLINE void wi_undo_plain(
    int filter, uint8_t *restrict row, const uint8_t *restrict above, const uint8_t *restrict raw, size_t width,
    int channels) {
    for (size_t i = 0; i < width; i++, raw += channels) {
        wi_words4 value = wi_load4(raw);
        if (filter == 2) value = (value + wi_load4(above + 4 * i)) & wi_byte4;
        wi_store4(row + 4 * i, value, channels);
    }
}

WI_INLINE void wi_undo_one(
    int filter, uint8_t *restrict row, const uint8_t *restrict above, const uint8_t *restrict raw, size_t width,
    int channels) {
    wi_words4 a = {0, 0, 0, 0}, c = a;
    for (size_t i = 0; i < width; i++, raw += channels) {
        wi_words4 b = wi_load4(above + 4 * i);
        a = (wi_expected4(filter, a, b, c) + wi_load4(raw)) & wi_byte4;
        c = b;
        wi_store4(row + 4 * i, a, channels);
    }
}

// Undoes the filters of two rows at once, with the second row a pixel behind the first. In a single row, each pixel waits for the
// one to its left, and the processor has nothing else to do meanwhile.
WI_INLINE void wi_undo_two(
    int first, int second, uint8_t *restrict row, uint8_t *restrict next, const uint8_t *restrict above,
    const uint8_t *restrict raw, const uint8_t *restrict next_raw, size_t width, int channels) {
    const wi_words8 is_first = {-1, -1, -1, -1, 0, 0, 0, 0};
    wi_words4 nothing = {0, 0, 0, 0}, up = wi_load4(above);
    wi_words4 done = (wi_expected4(first, nothing, up, nothing) + wi_load4(raw)) & wi_byte4;
    wi_store4(row, done, channels);
    wi_words8 a = __builtin_shufflevector(done, nothing, 0, 1, 2, 3, 4, 5, 6, 7);
    wi_words8 c = __builtin_shufflevector(up, nothing, 0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t i = 1; i < width; i++) {
        raw += channels;
        wi_words4 b4 = wi_load4(above + 4 * i);
        // For the second row, the pixel above is the one to the left in the first row.
        wi_words8 b = __builtin_shufflevector(
            __builtin_shufflevector(b4, b4, 0, 1, 2, 3, 0, 1, 2, 3), a, 0, 1, 2, 3, 8, 9, 10, 11);
        wi_words8 expected = wi_expected8(first, a, b, c);
        if (first != second) expected = (is_first & expected) | (~is_first & wi_expected8(second, a, b, c));
        a = (expected + wi_load8(raw, next_raw)) & wi_byte8;
        c = b;
        wi_store8(row + 4 * i, next + 4 * (i - 1), a, channels);
        next_raw += channels;
    }
    wi_words4 left = __builtin_shufflevector(a, a, 4, 5, 6, 7), corner = __builtin_shufflevector(c, c, 4, 5, 6, 7);
    done = __builtin_shufflevector(a, a, 0, 1, 2, 3);
    wi_store4(
        next + 4 * (width - 1), (wi_expected4(second, left, done, corner) + wi_load4(next_raw)) & wi_byte4, channels);
}

#define WI_UNDO_ONE(channels)                                                                                       \
    switch (raw[0]) {                                                                                               \
    case 0: wi_undo_plain(0, row, above, raw + 1, width, channels); return 1;                                       \
    case 1: wi_undo_one(1, row, above, raw + 1, width, channels); return 1;                                         \
    case 2: wi_undo_plain(2, row, above, raw + 1, width, channels); return 1;                                       \
    case 3: wi_undo_one(3, row, above, raw + 1, width, channels); return 1;                                         \
    case 4: wi_undo_one(4, row, above, raw + 1, width, channels); return 1;                                         \
    default: return 0;                                                                                              \
    }

WI_CLONES static int wi_undo_3(uint8_t *row, const uint8_t *above, const uint8_t *raw, size_t width) { WI_UNDO_ONE(3) }
WI_CLONES static int wi_undo_4(uint8_t *row, const uint8_t *above, const uint8_t *raw, size_t width) { WI_UNDO_ONE(4) }

int wi_png_unfilter(uint8_t *row, const uint8_t *above, const uint8_t *raw, size_t width, int channels) {
    return channels == 3 ? wi_undo_3(row, above, raw, width) : wi_undo_4(row, above, raw, width);
}

// A different number for each pair of the five filters.
#define WI_PAIR(first, second) (5 * (first) + (second))
#define WI_UNDO_PAIR(first, second, channels)                                                                       \
    case WI_PAIR(first, second):                                                                                    \
        wi_undo_two(first, second, row, next, above, raw + 1, next_raw + 1, width, channels);                       \
        return 1;
#define WI_UNDO_TWO(channels)                                                                                       \
    switch (WI_PAIR(raw[0], next_raw[0])) {                                                                         \
    WI_UNDO_PAIR(1, 3, channels)                                                                                    \
    WI_UNDO_PAIR(1, 4, channels)                                                                                    \
    WI_UNDO_PAIR(3, 1, channels)                                                                                    \
    WI_UNDO_PAIR(3, 3, channels)                                                                                    \
    WI_UNDO_PAIR(3, 4, channels)                                                                                    \
    WI_UNDO_PAIR(4, 1, channels)                                                                                    \
    WI_UNDO_PAIR(4, 3, channels)                                                                                    \
    WI_UNDO_PAIR(4, 4, channels)                                                                                    \
    default: return 0;                                                                                              \
    }

WI_CLONES static int wi_undo_two_3(
    uint8_t *row, uint8_t *next, const uint8_t *above, const uint8_t *raw, const uint8_t *next_raw, size_t width) {
    WI_UNDO_TWO(3)
}
WI_CLONES static int wi_undo_two_4(
    uint8_t *row, uint8_t *next, const uint8_t *above, const uint8_t *raw, const uint8_t *next_raw, size_t width) {
    WI_UNDO_TWO(4)
}

int wi_png_unfilter_two(
    uint8_t *row, uint8_t *next, const uint8_t *above, const uint8_t *raw, const uint8_t *next_raw, size_t width,
    int channels) {
    if (width == 0 || raw[0] > 4 || next_raw[0] > 4) return 0;
    return channels == 3 ? wi_undo_two_3(row, next, above, raw, next_raw, width)
                         : wi_undo_two_4(row, next, above, raw, next_raw, width);
}

// MARK: Undoing filters in place

WI_CLONES static void wi_undo_up(uint8_t *restrict bytes, const uint8_t *restrict above, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] += above[i];
}

WI_INLINE uint8_t wi_nearest(uint8_t left, uint8_t up, uint8_t corner) {
    int to_a = up - corner, to_b = left - corner, to_c = to_a + to_b;
    to_a = to_a < 0 ? -to_a : to_a;
    to_b = to_b < 0 ? -to_b : to_b;
    to_c = to_c < 0 ? -to_c : to_c;
    uint8_t other = to_b <= to_c ? up : corner;
    return to_a <= to_b && to_a <= to_c ? left : other;
}

WI_INLINE int wi_undo_in_place(int filter, uint8_t *bytes, const uint8_t *above, size_t count, size_t pixel) {
    size_t first = pixel < count ? pixel : count;
    switch (filter) {
    case 0: return 1;
    case 1:
        for (size_t i = first; i < count; i++) bytes[i] += bytes[i - pixel];
        return 1;
    case 2: wi_undo_up(bytes, above, count); return 1;
    case 3:
        for (size_t i = 0; i < first; i++) bytes[i] += above[i] >> 1;
        for (size_t i = first; i < count; i++) bytes[i] += (uint8_t)((bytes[i - pixel] + above[i]) >> 1);
        return 1;
    case 4:
        for (size_t i = 0; i < first; i++) bytes[i] += above[i];
        for (size_t i = first; i < count; i++) bytes[i] += wi_nearest(bytes[i - pixel], above[i], above[i - pixel]);
        return 1;
    default: return 0;
    }
}

int wi_png_unfilter_bytes(int filter, uint8_t *bytes, const uint8_t *above, size_t count, size_t pixel) {
    switch (pixel) {
    case 1: return wi_undo_in_place(filter, bytes, above, count, 1);
    case 2: return wi_undo_in_place(filter, bytes, above, count, 2);
    case 3: return wi_undo_in_place(filter, bytes, above, count, 3);
    case 4: return wi_undo_in_place(filter, bytes, above, count, 4);
    case 6: return wi_undo_in_place(filter, bytes, above, count, 6);
    default: return wi_undo_in_place(filter, bytes, above, count, 8);
    }
}
