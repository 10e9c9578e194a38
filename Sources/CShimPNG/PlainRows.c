#include "Reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* So much is inflated at a time, if rows are not longer. */
enum { WI_PLAIN_BATCH = 64 << 10 };

struct wi_plain_rows {
    z_stream z;
    uint32_t width, height, row;
    int channels;
    /* Inflated rows with their kind of filter, of which those before `used` are done. */
    uint8_t *raw;
    size_t raw_row, capacity, filled, used;
    /* The row at hand and the one above it, as RGBA. */
    uint8_t *lines[2];
    int has_ended;

    /* Of the chunk at hand: what is to come of its contents, its checksum so far, and that which it brings. */
    size_t rest;
    uLong sum;
    uint32_t stored;
    int stored_bytes;
};

wi_plain_rows *wi_plain_create(uint32_t width, uint32_t height, int channels) {
    wi_plain_rows *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->width = width;
    p->height = height;
    p->channels = channels;
    p->raw_row = 1 + (size_t)width * (size_t)channels;
    size_t rows = WI_PLAIN_BATCH / p->raw_row;
    if (rows > height) rows = height;
    p->capacity = p->raw_row * (rows ? rows : 1);
    p->raw = malloc(p->capacity + 8);
    p->lines[0] = calloc(width, 4);
    p->lines[1] = calloc(width, 4);
    if (!p->raw || !p->lines[0] || !p->lines[1] || inflateInit(&p->z) != Z_OK) {
        wi_plain_destroy(p);
        return NULL;
    }
    memset(p->raw + p->capacity, 0, 8);
    /* Every chunk has a checksum over the same data, packed; another one over all rows costs a twentieth of the decode. */
    inflateValidate(&p->z, 0);
    return p;
}

void wi_plain_destroy(wi_plain_rows *p) {
    if (!p) return;
    inflateEnd(&p->z);
    free(p->raw);
    free(p->lines[0]);
    free(p->lines[1]);
    free(p);
}

void wi_plain_begin_chunk(wi_plain_rows *p, const uint8_t *header) {
    p->rest = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    p->sum = crc32(0, header + 4, 4);
    p->stored = 0;
    p->stored_bytes = 0;
}

static int fail(wi_png_reader *r, int code, const char *message) {
    r->failure = code;
    snprintf(r->message, sizeof r->message, "%s", message);
    return code;
}

/* Hands on the rows that are inflated. */
static int give_rows(wi_plain_rows *p, wi_png_reader *r) {
    while (p->row < p->height && p->filled - p->used >= p->raw_row) {
        uint8_t *row = p->lines[p->row & 1], *above = p->lines[~p->row & 1];
        if (!wi_plain_unfilter(row, above, p->raw + p->used, p->width, p->channels))
            return fail(r, WI_PNG_CORRUPT, "bad adaptive filter value");
        p->used += p->raw_row;
        if (!wi_png_give_row(r, row, p->row)) return fail(r, WI_PNG_STOPPED, "stopped");
        p->row++;
    }
    if (p->row == p->height) r->has_all_rows = 1;
    if (p->used == p->filled) p->used = p->filled = 0;
    return WI_PNG_OK;
}

static int take(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    p->z.next_in = (Bytef *)bytes;
    p->z.avail_in = (uInt)count;
    /* What follows the last row is not looked at, as libpng does. */
    while (!p->has_ended && !r->has_all_rows) {
        p->z.next_out = p->raw + p->filled;
        p->z.avail_out = (uInt)(p->capacity - p->filled);
        int status = inflate(&p->z, Z_SYNC_FLUSH);
        p->filled = p->capacity - p->z.avail_out;
        int result = give_rows(p, r);
        if (result != WI_PNG_OK) return result;
        if (status == Z_STREAM_END) p->has_ended = 1;
        else if (status == Z_BUF_ERROR || (status == Z_OK && p->z.avail_in == 0 && p->z.avail_out > 0)) break;
        else if (status == Z_MEM_ERROR) return fail(r, WI_PNG_NO_MEMORY, "no memory to inflate the data");
        else if (status != Z_OK && !r->has_all_rows)
            return fail(r, WI_PNG_CORRUPT, p->z.msg ? p->z.msg : "the data cannot be inflated");
    }
    return WI_PNG_OK;
}

int wi_plain_push(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    size_t data = count < p->rest ? count : p->rest;
    if (data) {
        p->rest -= data;
        p->sum = crc32(p->sum, bytes, (uInt)data);
        int result = take(p, r, bytes, data);
        if (result != WI_PNG_OK) return result;
    }
    for (size_t index = data; index < count && p->stored_bytes < 4; index++) {
        p->stored = p->stored << 8 | bytes[index];
        if (++p->stored_bytes == 4 && p->stored != (uint32_t)p->sum) return fail(r, WI_PNG_CORRUPT, "IDAT: CRC error");
    }
    return WI_PNG_OK;
}

/* The channels of a pixel side by side. */
typedef uint8_t wi_bytes4 __attribute__((vector_size(4)));
typedef int16_t wi_words4 __attribute__((vector_size(8)));

static inline wi_words4 load(const uint8_t *pixel) {
    wi_bytes4 bytes;
    memcpy(&bytes, pixel, sizeof bytes);
    return __builtin_convertvector(bytes, wi_words4);
}

static inline void store(uint8_t *pixel, wi_words4 words, int channels) {
    wi_bytes4 bytes = __builtin_convertvector(words, wi_bytes4);
    if (channels == 3) bytes[3] = 255;
    memcpy(pixel, &bytes, sizeof bytes);
}

static inline wi_words4 choose(wi_words4 mask, wi_words4 a, wi_words4 b) { return (mask & a) | (~mask & b); }

/* Of left, above and above left the one nearest to left + above - above left; the first of them at a tie. */
static inline wi_words4 paeth(wi_words4 a, wi_words4 b, wi_words4 c) {
    wi_words4 to_a = b - c, to_b = a - c, to_c = __builtin_elementwise_abs(to_a + to_b);
    to_a = __builtin_elementwise_abs(to_a);
    to_b = __builtin_elementwise_abs(to_b);
    wi_words4 nearest = __builtin_elementwise_min(to_c, __builtin_elementwise_min(to_a, to_b));
    return choose(nearest == to_a, a, choose(nearest == to_b, b, c));
}

static inline __attribute__((always_inline)) int unfilter(
    uint8_t *restrict row, const uint8_t *restrict above, const uint8_t *restrict raw, uint32_t width, int channels) {
    const wi_words4 byte = {255, 255, 255, 255};
    const uint8_t *x = raw + 1;
    wi_words4 a = {0, 0, 0, 0}, c = {0, 0, 0, 0};
    switch (raw[0]) {
    case 0:
        for (uint32_t i = 0; i < width; i++, x += channels) store(row + 4 * i, load(x), channels);
        return 1;
    case 1:
        for (uint32_t i = 0; i < width; i++, x += channels) {
            a = (a + load(x)) & byte;
            store(row + 4 * i, a, channels);
        }
        return 1;
    case 2:
        for (uint32_t i = 0; i < width; i++, x += channels)
            store(row + 4 * i, (load(above + 4 * i) + load(x)) & byte, channels);
        return 1;
    case 3:
        for (uint32_t i = 0; i < width; i++, x += channels) {
            a = (((a + load(above + 4 * i)) >> 1) + load(x)) & byte;
            store(row + 4 * i, a, channels);
        }
        return 1;
    case 4:
        for (uint32_t i = 0; i < width; i++, x += channels) {
            wi_words4 b = load(above + 4 * i);
            a = (paeth(a, b, c) + load(x)) & byte;
            c = b;
            store(row + 4 * i, a, channels);
        }
        return 1;
    default: return 0;
    }
}

int wi_plain_unfilter(uint8_t *row, const uint8_t *above, const uint8_t *raw, uint32_t width, int channels) {
    return channels == 3 ? unfilter(row, above, raw, width, 3) : unfilter(row, above, raw, width, 4);
}
