#include "Reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "CPixels.h"
#include "Inflater.h"
#include "PixelRows.h"

/* So much is inflated at a time, if rows are not longer. */
enum {
    WI_PLAIN_BATCH = 64 << 10,
    /* The same where another thread inflates: waking it costs something. */
    WI_HELPED_BATCH = 128 << 10,
    /* So much waits for it, or so many pieces: chunks of data may be short. */
    WI_HELPED_INPUT = 32 << 10,
    WI_HELPED_PIECES = 64,
};

/* Inflated rows with their filter's number, of which those before `used` are done. */
typedef struct {
    uint8_t *bytes;
    size_t filled, used;
} batch;

typedef struct {
    const uint8_t *bytes;
    size_t count;
} input;

struct wi_plain_rows {
    wi_inflater *inflater;
    wi_pixel_rows pixels;
    uint32_t height, row;
    batch raw;
    size_t raw_row, capacity;
    /* The row before the next one, as the filters want it: where it is, or a copy once its place may be another's. */
    const uint8_t *above;
    uint8_t *kept;
    size_t kept_bytes;
    int has_ended;

    /* Where one thread inflates while another undoes filters: the batch that it fills, with room for a part of a row before it; the
       input that it has not taken; how the last call ended, and what the rows did meanwhile. */
    int is_helped;
    batch next;
    input inputs[WI_HELPED_PIECES];
    size_t first_input, input_count, input_bytes;
    wi_inflate_state state;
    struct wi_png_reader *reader;
    int result;

    /* Of the chunk at hand: what is to come of its contents, its checksum so far, and that which it brings. */
    size_t rest;
    uint32_t sum, stored;
    int stored_bytes;
};

wi_plain_rows *wi_plain_create(wi_png_reader *r) {
    wi_plain_rows *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    int is_wide = png_get_bit_depth(r->png, r->info) == 16 && r->keeps_16_bit;
    wi_pixel_rows_plan(&p->pixels, r->png, r->info, is_wide);
    p->height = png_get_image_height(r->png, r->info);
    p->raw_row = 1 + p->pixels.row_bytes;
    p->is_helped = r->together != NULL;
    p->reader = r;
    size_t rows = (p->is_helped ? WI_HELPED_BATCH : WI_PLAIN_BATCH) / p->raw_row;
    if (rows > p->height) rows = p->height;
    p->capacity = p->raw_row * (rows ? rows : 1);
    /* With some more, since rows are read by words. */
    size_t room = (p->is_helped ? p->raw_row : 0) + p->capacity + 8;
    p->raw.bytes = calloc(room, 1);
    if (p->is_helped) p->next.bytes = calloc(room, 1);
    p->kept_bytes = p->pixels.kind == WI_ROWS_COLORS_8 ? 4 * (size_t)p->pixels.width : p->pixels.row_bytes;
    p->kept = calloc(p->kept_bytes, 1);
    p->inflater = wi_inflater_create(r->uses_zlib);
    if (!p->raw.bytes || (p->is_helped && !p->next.bytes) || !p->kept || !p->inflater) {
        wi_plain_destroy(p);
        return NULL;
    }
    p->above = p->kept;
    return p;
}

void wi_plain_destroy(wi_plain_rows *p) {
    if (!p) return;
    wi_inflater_destroy(p->inflater);
    free(p->raw.bytes);
    free(p->next.bytes);
    free(p->kept);
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

/* The row above may lie in memory that is given to others, or written anew, from here on. */
static void keep_above(wi_plain_rows *p) {
    if (p->above != p->kept) memcpy(p->kept, p->above, p->kept_bytes);
    p->above = p->kept;
}

/* Undoes the filters of the next row, or the next two, into the band. Returns how many; 0 for a number that no filter has. */
static int undo(wi_plain_rows *p, uint8_t *out, size_t stride, uint32_t most) {
    uint8_t *raw = p->raw.bytes + p->raw.used;
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

/* Hands on the rows that are inflated. */
static int give_rows(wi_plain_rows *p, wi_png_reader *r) {
    int result = WI_PNG_OK;
    while (p->row < p->height && p->raw.filled - p->raw.used >= p->raw_row) {
        if (!wi_png_has_place(r, p->row)) keep_above(p);
        uint32_t room = 0;
        uint8_t *out = wi_png_place(r, p->row, &room);
        if (!out) {
            result = fail(r, WI_PNG_STOPPED, "stopped");
            break;
        }
        size_t inflated = (p->raw.filled - p->raw.used) / p->raw_row;
        int rows = undo(p, out, r->header.row_bytes, inflated < room ? (uint32_t)inflated : room);
        if (rows == 0) {
            result = fail(r, WI_PNG_CORRUPT, "bad adaptive filter value");
            break;
        }
        p->raw.used += p->raw_row * (size_t)rows;
        p->row += (uint32_t)rows;
        wi_png_filled(r, p->row);
    }
    keep_above(p);
    if (p->row == p->height) r->has_all_rows = 1;
    return result;
}

/* What goes wrong with the data itself, once all rows before it are given. */
static int end_of(wi_plain_rows *p, wi_png_reader *r, wi_inflate_state state) {
    switch (state) {
    case WI_INFLATE_NO_MEMORY: return fail(r, WI_PNG_NO_MEMORY, "no memory to inflate the data");
    case WI_INFLATE_CORRUPT: return r->has_all_rows ? WI_PNG_OK : fail(r, WI_PNG_CORRUPT, wi_inflater_message(p->inflater));
    case WI_INFLATE_END: p->has_ended = 1; return WI_PNG_OK;
    case WI_INFLATE_MORE: break;
    }
    return WI_PNG_OK;
}

static int take(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    /* What follows the last row is not looked at, as libpng does. */
    while (!p->has_ended && !r->has_all_rows) {
        if (p->raw.used == p->raw.filled) p->raw.used = p->raw.filled = 0;
        uint8_t *output = p->raw.bytes + p->raw.filled;
        size_t room = p->capacity - p->raw.filled;
        wi_inflate_state state = wi_inflate(p->inflater, &bytes, &count, &output, &room);
        p->raw.filled = p->capacity - room;
        int result = give_rows(p, r);
        if (result == WI_PNG_OK) result = end_of(p, r, state);
        if (result != WI_PNG_OK) return result;
        if (state == WI_INFLATE_MORE && count == 0 && room > 0) return WI_PNG_OK;
    }
    return WI_PNG_OK;
}

/* The part of the other thread: it touches the inflater, the input and its own batch. */
static void inflate_next(void *context) {
    wi_plain_rows *p = context;
    uint8_t *output = p->next.bytes + p->raw_row;
    size_t room = p->capacity;
    while (p->input_count > 0 && room > 0 && p->state == WI_INFLATE_MORE) {
        input *in = &p->inputs[p->first_input];
        size_t before = in->count;
        p->state = wi_inflate(p->inflater, &in->bytes, &in->count, &output, &room);
        p->input_bytes -= before - in->count;
        /* Of a piece that is used up, output may be left. */
        if (in->count > 0 || room == 0) continue;
        p->first_input++;
        p->input_count--;
    }
    p->next.used = p->raw_row;
    p->next.filled = p->raw_row + p->capacity - room;
}

static void give_ready(void *context) {
    wi_plain_rows *p = context;
    p->result = give_rows(p, p->reader);
}

/* Gives the rows of one batch while the next one is inflated. */
static int step(wi_plain_rows *p, wi_png_reader *r) {
    wi_inflate_state before = p->state;
    r->together(r->context, give_ready, inflate_next, p);
    if (p->result != WI_PNG_OK) return p->result;
    if (r->has_all_rows) return WI_PNG_OK;
    /* All that was made before this step is given now. */
    if (before != WI_INFLATE_MORE) return end_of(p, r, before);
    /* A part of a row goes before the rest of it. */
    size_t part = p->raw.filled - p->raw.used;
    batch next = p->next;
    next.used -= part;
    memcpy(next.bytes + next.used, p->raw.bytes + p->raw.used, part);
    p->next = p->raw;
    p->raw = next;
    return WI_PNG_OK;
}

static int take_helped(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    if (p->has_ended || r->has_all_rows) return WI_PNG_OK;
    if (p->first_input + p->input_count == WI_HELPED_PIECES) {
        memmove(p->inputs, p->inputs + p->first_input, p->input_count * sizeof *p->inputs);
        p->first_input = 0;
    }
    p->inputs[p->first_input + p->input_count++] = (input){bytes, count};
    p->input_bytes += count;
    while (p->input_bytes >= WI_HELPED_INPUT || p->input_count == WI_HELPED_PIECES) {
        int result = step(p, r);
        if (result != WI_PNG_OK) return result;
        if (p->has_ended || r->has_all_rows) break;
    }
    return WI_PNG_OK;
}

int wi_plain_flush(wi_plain_rows *p, wi_png_reader *r) {
    if (!p->is_helped || r->failure) return r->failure;
    while (!p->has_ended && !r->has_all_rows) {
        int is_waiting = p->raw.filled - p->raw.used >= p->raw_row;
        if (p->input_count == 0 && !is_waiting && p->state == WI_INFLATE_MORE) break;
        int result = step(p, r);
        if (result != WI_PNG_OK) return result;
    }
    p->first_input = p->input_count = p->input_bytes = 0;
    return WI_PNG_OK;
}

int wi_plain_push(wi_plain_rows *p, wi_png_reader *r, const uint8_t *bytes, size_t count) {
    size_t data = count < p->rest ? count : p->rest;
    if (data) {
        p->rest -= data;
        p->sum = wi_png_crc(p->sum, bytes, data);
        int result = p->is_helped ? take_helped(p, r, bytes, data) : take(p, r, bytes, data);
        if (result != WI_PNG_OK) return result;
    }
    for (size_t index = data; index < count && p->stored_bytes < 4; index++) {
        p->stored = p->stored << 8 | bytes[index];
        if (++p->stored_bytes < 4 || p->stored == p->sum) continue;
        /* What came before is given first. */
        int result = wi_plain_flush(p, r);
        return result == WI_PNG_OK ? fail(r, WI_PNG_CORRUPT, "IDAT: CRC error") : result;
    }
    return WI_PNG_OK;
}
