#include "Decoder.h"
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

/* The most unused bytes that are kept. A marker has at most 64 KiB, and a row of blocks is used block by block, so more unused
   bytes are not JPEG data, and reading them again with every piece would take endless time. */
static const size_t most_kept = 256 << 10;

static void begin(j_decompress_ptr c) { (void)c; }

static boolean fill(j_decompress_ptr c) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    wi_jpeg_decoder *d = c->client_data;
    /* A made-up marker must not be read as the contents of an incomplete marker. */
    if (!d->ended || c->unread_marker != 0) return FALSE;
    d->made_up_end = 1;
    if (c->arith_code && !d->ran_out) {
        /* The arithmetic decoder does not report when it reads zeros beyond the end. */
        d->ran_out = 1;
        d->ran_out_scan = c->input_scan_number;
        d->ran_out_row = c->input_iMCU_row;
    }
    c->src->next_input_byte = end;
    c->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip(j_decompress_ptr c, long count) {
    wi_jpeg_decoder *d = c->client_data;
    if (count <= 0) return;
    size_t wanted = (size_t)count, there = c->src->bytes_in_buffer;
    if (wanted > there) {
        d->skip += wanted - there;
        wanted = there;
    }
    c->src->next_input_byte += wanted;
    c->src->bytes_in_buffer -= wanted;
}

static void terminate(j_decompress_ptr c) { (void)c; }

void wi_jpeg_install_source(wi_jpeg_decoder *d) {
    d->source.init_source = begin;
    d->source.fill_input_buffer = fill;
    d->source.skip_input_data = skip;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    d->source.term_source = terminate;
    d->c.src = &d->source;
}

static int reserve(wi_jpeg_decoder *d, size_t count) {
    if (count <= d->capacity) return WI_JPEG_READY;
    size_t capacity = count < SIZE_MAX / 2 ? count * 2 : count;
    uint8_t *bigger = realloc(d->kept, capacity);
    if (!bigger) return WI_JPEG_NO_MEMORY;
    d->kept = bigger;
    d->capacity = capacity;
    return WI_JPEG_READY;
}

int wi_jpeg_feed(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    size_t skipped = d->skip < count ? d->skip : count;
    d->skip -= skipped;
    bytes += skipped;
    count -= skipped;
    if (count == 0 || d->ended) return WI_JPEG_READY;
    size_t left = d->source.bytes_in_buffer;
    if (left == 0) {
        d->source.next_input_byte = bytes;
        d->source.bytes_in_buffer = count;
        return WI_JPEG_READY;
    }
    size_t offset = (size_t)(d->source.next_input_byte - d->kept);
    if (reserve(d, left + count) != WI_JPEG_READY) return WI_JPEG_NO_MEMORY;
    if (offset) memmove(d->kept, d->kept + offset, left);
    memcpy(d->kept + left, bytes, count);
    d->source.next_input_byte = d->kept;
    d->source.bytes_in_buffer = left + count;
    return WI_JPEG_READY;
}

int wi_jpeg_keep(wi_jpeg_decoder *d) {
    size_t left = d->source.bytes_in_buffer;
    if (left > most_kept && !d->c.arith_code) {
        snprintf(d->message, sizeof d->message, "%zu bytes that are no part of a picture", left);
        return WI_JPEG_CORRUPT;
    }
    uintptr_t at = (uintptr_t)d->source.next_input_byte, base = (uintptr_t)d->kept;
    int is_ours = d->kept && at >= base && at < base + d->capacity;
    if (left == 0 || is_ours) return WI_JPEG_READY;
    if (reserve(d, left) != WI_JPEG_READY) return WI_JPEG_NO_MEMORY;
    memcpy(d->kept, d->source.next_input_byte, left);
    d->source.next_input_byte = d->kept;
    return WI_JPEG_READY;
}

void wi_jpeg_end(wi_jpeg_decoder *d) { d->ended = 1; }
