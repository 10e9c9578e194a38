#include "Reader.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "CPixels.h"
#include "Inflater.h"
#include "PixelRows.h"

enum {
    /* How many bytes are inflated at a time, if rows are not longer. */
    WI_PLAIN_BATCH = 64 << 10,
    /* How many batches another thread that inflates may be ahead. A thread that waits for the other is woken when half of the
       batches are its own, because waking takes time. */
    WI_HELPED_BATCHES = 8,
    /* How many bytes of input are worth another thread; and how many pieces are collected before it begins, because chunks may be
       short. */
    WI_HELPED_INPUT = 32 << 10,
    WI_HELPED_PIECES = 512,
};

/* Inflated rows with their filter types; the bytes before `used` are done. A batch begins with a row, and has room for whole rows.
   */
typedef struct {
    uint8_t *bytes;
    size_t filled, used;
} batch;

typedef struct {
    const uint8_t *bytes;
    size_t count;
} input;

struct wi_plain_rows {
    struct wi_png_reader *reader;
    wi_inflater *inflater;
    wi_pixel_rows pixels;
    uint32_t height, row;
    /* The bytes of a row with its filter type, and of a batch. */
    size_t raw_row, capacity;
    /* The row before the next one, as the filters need it: in its place, or a copy (`kept`) when that may be used otherwise. */
    const uint8_t *above;
    uint8_t *kept;
    size_t kept_bytes;
    int has_ended, result;

    /* A ring of batches: from `giving` on, `ready` of them are full, and the one after them is filled next. */
    batch batches[WI_HELPED_BATCHES];
    size_t batch_count, giving, ready;
    /* The input that is not inflated yet (in `inputs`), and how the last call of the inflater ended. */
    size_t most_inputs, first_input, input_count, input_bytes;
    wi_inflate_state state;

    /* One thread undoes filters, and another one may inflate meanwhile. Before that one begins, and after it has ended, the first
       thread inflates, too. The mutex guards the numbers of the ring and the following fields. The thread that is inflating owns
       the input, the inflater and the next batch. */
    pthread_mutex_t mutex;
    pthread_cond_t may_give, may_inflate;
    int is_inflating, has_helper, is_over;

    /* The current chunk: the bytes of its contents that are still to come, its checksum so far, and the stored one. */
    size_t rest;
    uint32_t sum, stored;
    int stored_bytes;

    input inputs[];
};

wi_plain_rows *wi_plain_create(wi_png_reader *r) {
    size_t most_inputs = r->together ? WI_HELPED_PIECES : 1;
    wi_plain_rows *p = calloc(1, sizeof *p + most_inputs * sizeof(input));
    if (!p) return NULL;
    p->most_inputs = most_inputs;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->may_give, NULL);
    pthread_cond_init(&p->may_inflate, NULL);
    int is_wide = png_get_bit_depth(r->png, r->info) == 16 && r->keeps_16_bit;
    wi_pixel_rows_plan(&p->pixels, r->png, r->info, is_wide);
    p->height = png_get_image_height(r->png, r->info);
    p->raw_row = 1 + p->pixels.row_bytes;
    p->reader = r;
    size_t rows = WI_PLAIN_BATCH / p->raw_row;
    if (rows > p->height) rows = p->height;
    p->capacity = p->raw_row * (rows ? rows : 1);
    p->batch_count = r->together ? WI_HELPED_BATCHES : 1;
    p->kept_bytes = p->pixels.kind == WI_ROWS_COLORS_8 ? 4 * (size_t)p->pixels.width : p->pixels.row_bytes;
    p->kept = calloc(p->kept_bytes, 1);
    p->inflater = wi_inflater_create(r->uses_zlib);
    int is_whole = p->kept && p->inflater;
    for (size_t index = 0; index < p->batch_count; index++) {
        /* A few bytes more, because rows are read in words. */
        p->batches[index].bytes = calloc(p->capacity + 8, 1);
        if (!p->batches[index].bytes) is_whole = 0;
    }
    if (!is_whole) {
        wi_plain_destroy(p);
        return NULL;
    }
    p->above = p->kept;
    return p;
}

void wi_plain_destroy(wi_plain_rows *p) {
    if (!p) return;
    wi_inflater_destroy(p->inflater);
    for (size_t index = 0; index < p->batch_count; index++) free(p->batches[index].bytes);
    free(p->kept);
    pthread_cond_destroy(&p->may_inflate);
    pthread_cond_destroy(&p->may_give);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

void wi_plain_begin_chunk(wi_plain_rows *p, const uint8_t *header) {
    p->rest = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    p->sum = wi_png_crc(0, header + 4, 4);
    p->stored = 0;
    p->stored_bytes = 0;
}

static int fail(wi_png_reader *r, int code, const char *message) {
    r->failure = code;
    snprintf(r->message, sizeof r->message, "%s", message);
    return code;
}

/* Copies the row above, because its memory may be passed on or overwritten from here on. */
static void keep_above(wi_plain_rows *p) {
    if (p->above != p->kept) memcpy(p->kept, p->above, p->kept_bytes);
    p->above = p->kept;
}

/* Undoes the filters of the next row, or the next two, and writes the pixels to the band. Returns how many; 0 for an invalid
   filter type. */
static int undo(wi_plain_rows *p, uint8_t *raw, uint8_t *out, size_t stride, uint32_t most) {
    const wi_pixel_rows *pixels = &p->pixels;
    if (pixels->kind != WI_ROWS_COLORS_8) {
        if (!wi_png_unfilter_bytes(raw[0], raw + 1, p->above, pixels->row_bytes, pixels->pixel_bytes)) return 0;
        wi_pixel_rows_expand(pixels, raw + 1, out);
        p->above = raw + 1;
        return 1;
    }
    if (most > 1
        && wi_png_unfilter_two(out, out + stride, p->above, raw, raw + p->raw_row, pixels->width, pixels->channels)) {
        p->above = out + stride;
        return 2;
    }
    if (!wi_png_unfilter(out, p->above, raw, pixels->width, pixels->channels)) return 0;
    p->above = out;
    return 1;
}

/* Passes on the whole rows of a batch. */
static int give_rows(wi_plain_rows *p, batch *b) {
    wi_png_reader *r = p->reader;
    int result = WI_PNG_OK;
    while (p->row < p->height && b->filled - b->used >= p->raw_row) {
        if (!wi_png_has_place(r, p->row)) keep_above(p);
        uint32_t room = 0;
        uint8_t *out = wi_png_place(r, p->row, &room);
        if (!out) {
            result = fail(r, WI_PNG_STOPPED, "stopped");
            break;
        }
        size_t inflated = (b->filled - b->used) / p->raw_row;
        int rows = undo(p, b->bytes + b->used, out, r->header.row_bytes, inflated < room ? (uint32_t)inflated : room);
        if (rows == 0) {
            result = fail(r, WI_PNG_CORRUPT, "bad adaptive filter value");
            break;
        }
        b->used += p->raw_row * (size_t)rows;
        p->row += (uint32_t)rows;
        wi_png_filled(r, p->row);
    }
    keep_above(p);
    if (p->row == p->height) r->has_all_rows = 1;
    return result;
}

/* Reports an error in the data, after all rows before it have been passed on. */
static int end_of(wi_plain_rows *p) {
    wi_png_reader *r = p->reader;
    switch (p->state) {
    case WI_INFLATE_NO_MEMORY: return fail(r, WI_PNG_NO_MEMORY, "no memory to inflate the data");
    case WI_INFLATE_CORRUPT: return r->has_all_rows ? WI_PNG_OK : fail(r, WI_PNG_CORRUPT, wi_inflater_message(p->inflater));
    case WI_INFLATE_END: p->has_ended = 1; return WI_PNG_OK;
    case WI_INFLATE_MORE: break;
    }
    return WI_PNG_OK;
}

static int has_more(const wi_plain_rows *p) { return p->input_count > 0 && p->state == WI_INFLATE_MORE; }

/* Inflates until a batch is full, or all input is used. */
static void inflate_batch(wi_plain_rows *p, batch *b) {
    if (b->used == b->filled) b->used = b->filled = 0;
    uint8_t *output = b->bytes + b->filled;
    size_t room = p->capacity - b->filled;
    while (room > 0 && has_more(p)) {
        input *in = &p->inputs[p->first_input];
        p->state = wi_inflate(p->inflater, &in->bytes, &in->count, &output, &room);
        /* A piece that is used up may have more output. */
        if (in->count > 0 || room == 0) continue;
        p->first_input++;
        p->input_count--;
    }
    b->filled = p->capacity - room;
}

/* Inflates the next batch; there must be a free one. The mutex is held before and afterwards. */
static void inflate_next(wi_plain_rows *p) {
    batch *b = &p->batches[(p->giving + p->ready) % p->batch_count];
    p->is_inflating = 1;
    pthread_mutex_unlock(&p->mutex);
    inflate_batch(p, b);
    pthread_mutex_lock(&p->mutex);
    p->is_inflating = 0;
    if (b->filled == p->capacity) p->ready++;
}

/* The work of the other thread. */
static void inflate_ahead(void *context, int (*goes_on)(void *), void *asked) {
    wi_plain_rows *p = context;
    pthread_mutex_lock(&p->mutex);
    p->has_helper = 1;
    while (!p->is_over && goes_on(asked)) {
        if (p->is_inflating || p->ready == p->batch_count) {
            pthread_cond_wait(&p->may_inflate, &p->mutex);
        } else if (has_more(p)) {
            inflate_next(p);
            if (p->ready >= p->batch_count / 2) pthread_cond_signal(&p->may_give);
        } else {
            break;
        }
    }
    p->has_helper = 0;
    pthread_cond_signal(&p->may_give);
    pthread_mutex_unlock(&p->mutex);
}

/* Passes on all rows whose bytes have arrived. */
static void give_all(void *context) {
    wi_plain_rows *p = context;
    pthread_mutex_lock(&p->mutex);
    /* Data after the last row is not read, as in libpng. */
    while (p->result == WI_PNG_OK && !p->reader->has_all_rows) {
        int is_full = p->ready > 0;
        if (!is_full && (p->is_inflating || (p->has_helper && has_more(p)))) {
            pthread_cond_wait(&p->may_give, &p->mutex);
            continue;
        }
        if (!is_full && has_more(p)) {
            inflate_next(p);
            if (p->has_helper) pthread_cond_signal(&p->may_inflate);
            continue;
        }
        pthread_mutex_unlock(&p->mutex);
        p->result = give_rows(p, &p->batches[p->giving]);
        pthread_mutex_lock(&p->mutex);
        if (!is_full) break;
        p->giving = (p->giving + 1) % p->batch_count;
        p->ready--;
        if (p->has_helper && p->ready <= p->batch_count / 2) pthread_cond_signal(&p->may_inflate);
    }
    p->is_over = 1;
    pthread_cond_signal(&p->may_inflate);
    pthread_mutex_unlock(&p->mutex);
}

/* Makes rows from all input that has arrived. */
static int take_all(wi_plain_rows *p) {
    if (p->input_count == 0) return WI_PNG_OK;
    wi_png_reader *r = p->reader;
    p->is_over = 0;
    if (r->together && p->input_bytes >= WI_HELPED_INPUT) r->together(r->context, give_all, inflate_ahead, p);
    else give_all(p);
    p->first_input = p->input_count = p->input_bytes = 0;
    return p->result == WI_PNG_OK ? end_of(p) : p->result;
}

static int take(wi_plain_rows *p, const uint8_t *bytes, size_t count) {
    if (p->has_ended || p->reader->has_all_rows) return WI_PNG_OK;
    p->inputs[p->input_count++] = (input){bytes, count};
    p->input_bytes += count;
    return p->input_count < p->most_inputs ? WI_PNG_OK : take_all(p);
}

int wi_plain_flush(wi_plain_rows *p, wi_png_reader *r) { return r->failure ? r->failure : take_all(p); }

int wi_plain_push(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    size_t data = count < p->rest ? count : p->rest;
    if (data) {
        p->rest -= data;
        p->sum = wi_png_crc(p->sum, bytes, data);
        int result = take(p, bytes, data);
        if (result != WI_PNG_OK) return result;
    }
    for (size_t index = data; index < count && p->stored_bytes < 4; index++) {
        p->stored = p->stored << 8 | bytes[index];
        if (++p->stored_bytes < 4 || p->stored == p->sum) continue;
        /* The rows from before are passed on first. */
        int result = wi_plain_flush(p, r);
        return result == WI_PNG_OK ? fail(r, WI_PNG_CORRUPT, "IDAT: CRC error") : result;
    }
    return WI_PNG_OK;
}
