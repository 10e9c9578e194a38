#include "CShimCoding.h"
#include "Functions.h"
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* In the state BEYOND all bytes are ignored. */
typedef enum { AT_START, INSIDE, AT_END, BEYOND } place;

struct wi_coding {
    wi_coding_kind kind;
    place place;
    /* Whether the last call filled the output, so that more decoded bytes may be waiting. */
    int has_more;
    z_stream z;
    BrotliDecoderState *brotli;
    ZSTD_DStream *zstd;
    /* How many bytes of a frame's magic number have arrived, whether it is that of a frame to skip, and whether a frame has ended
       before. */
    size_t magic_count;
    int is_skippable, has_frame;
};

/* The window sizes by which zlib is told which header precedes the deflated bytes. */
enum { gzip_head = 16 + MAX_WBITS, zlib_head = MAX_WBITS, no_head = -MAX_WBITS };

wi_coding *wi_coding_create(wi_coding_kind kind) {
    wi_coding *coding = wi_coding_library_fault(kind) == NULL ? calloc(1, sizeof *coding) : NULL;
    if (coding == NULL) return NULL;
    coding->kind = kind;
    int is_ready = 0;
    switch (kind) {
    case WI_CODING_GZIP:
    case WI_CODING_DEFLATE:
        is_ready = inflateInit2(&coding->z, kind == WI_CODING_GZIP ? gzip_head : zlib_head) == Z_OK;
        break;
    case WI_CODING_BROTLI:
        coding->brotli = wi_brotli.BrotliDecoderCreateInstance(NULL, NULL, NULL);
        is_ready = coding->brotli != NULL;
        break;
    case WI_CODING_ZSTD:
        coding->zstd = wi_zstd.ZSTD_createDStream();
        is_ready = coding->zstd != NULL
            && !wi_zstd.ZSTD_isError(wi_zstd.ZSTD_DCtx_setParameter(coding->zstd, ZSTD_d_windowLogMax, 23));
        break;
    }
    if (is_ready) return coding;
    wi_coding_destroy(coding);
    return NULL;
}

void wi_coding_destroy(wi_coding *coding) {
    inflateEnd(&coding->z);
    if (coding->brotli != NULL) wi_brotli.BrotliDecoderDestroyInstance(coding->brotli);
    if (coding->zstd != NULL) wi_zstd.ZSTD_freeDStream(coding->zstd);
    free(coding);
}

int wi_coding_is_whole(const wi_coding *coding) { return coding->place != INSIDE; }

typedef struct {
    const uint8_t *bytes;
    size_t count;
    uint8_t *output;
    size_t room;
} span;

/* Some servers send deflated bytes without zlib's header, whose first byte has 8 in its lower half. No encoder begins raw deflated
   bytes like this: they would be a stored block in which unused bits are set. */
static int has_zlib_head(uint8_t first) { return (first & 15) == 8; }

static int inflate_some(wi_coding *coding, span *span) {
    z_stream *z = &coding->z;
    if (coding->place == AT_START && span->count > 0 && coding->kind == WI_CODING_DEFLATE
        && !has_zlib_head(span->bytes[0]) && inflateReset2(z, no_head) != Z_OK) {
        return -1;
    }
    while (span->room > 0) {
        if (coding->place == AT_END) {
            /* Only gzip has several members, each of which begins with the same byte. */
            int is_member = coding->kind == WI_CODING_GZIP && span->count > 0 && span->bytes[0] == 0x1F;
            if (span->count > 0 && !is_member) coding->place = BEYOND;
            if (is_member && inflateReset(z) != Z_OK) return -1;
        }
        if (coding->place == BEYOND || (coding->place != INSIDE && span->count == 0)) return 0;
        coding->place = INSIDE;
        size_t count = span->count < UINT_MAX ? span->count : UINT_MAX;
        size_t room = span->room < UINT_MAX ? span->room : UINT_MAX;
        z->next_in = (Bytef *)(uintptr_t)span->bytes;
        z->avail_in = (uInt)count;
        z->next_out = span->output;
        z->avail_out = (uInt)room;
        int status = inflate(z, Z_NO_FLUSH);
        size_t taken = count - z->avail_in, made = room - z->avail_out;
        span->bytes += taken;
        span->count -= taken;
        span->output += made;
        span->room -= made;
        if (status == Z_STREAM_END) {
            coding->place = AT_END;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return -1;
        } else if (span->count == 0 && span->room > 0) {
            return 0;
        } else if (taken == 0 && made == 0) {
            return -1;
        }
    }
    return 0;
}

static int unpack_brotli(wi_coding *coding, span *span) {
    if (coding->place == AT_START && span->count > 0) coding->place = INSIDE;
    if (coding->place != INSIDE) return 0;
    BrotliDecoderResult result = wi_brotli.BrotliDecoderDecompressStream(
        coding->brotli, &span->count, &span->bytes, &span->room, &span->output, NULL);
    if (result == BROTLI_DECODER_RESULT_ERROR) return -1;
    if (result == BROTLI_DECODER_RESULT_SUCCESS) coding->place = BEYOND;
    return 0;
}

/* Whether the bytes begin a frame (RFC 8878 section 3.1), as far as its magic number has arrived. zstd's own answer depends on how
   many bytes it gets at once: with four it accepts frames of formats before the RFC, and with fewer it treats bytes after the end
   as a damaged frame. */
static int begins_like_frame(wi_coding *coding, const uint8_t *bytes, size_t count) {
    static const uint8_t frame[4] = {0x28, 0xB5, 0x2F, 0xFD}, skippable[4] = {0x50, 0x2A, 0x4D, 0x18};
    for (size_t i = 0; i < count && coding->magic_count < sizeof frame; i++) {
        size_t at = coding->magic_count++;
        if (at == 0) coding->is_skippable = (bytes[i] & 0xF0) == 0x50;
        if (at == 0 && coding->is_skippable) continue;
        if (bytes[i] != (coding->is_skippable ? skippable : frame)[at]) return 0;
    }
    return 1;
}

static int unpack_zstd(wi_coding *coding, span *span) {
    ZSTD_inBuffer input = {span->bytes, span->count, 0};
    ZSTD_outBuffer output = {span->output, span->room, 0};
    int result = 0;
    do {
        /* Without input zstd flushes its output. At the end of a frame it would begin another frame. */
        if (coding->place == BEYOND || (coding->place != INSIDE && input.pos == input.size)) break;
        if (coding->place == AT_END) coding->magic_count = 0;
        if (!begins_like_frame(coding, span->bytes + input.pos, input.size - input.pos)) {
            coding->place = BEYOND;
            result = coding->has_frame ? 0 : -1;
            break;
        }
        size_t rest = wi_zstd.ZSTD_decompressStream(coding->zstd, &output, &input);
        if (wi_zstd.ZSTD_isError(rest)) {
            result = -1;
            break;
        }
        coding->place = rest == 0 ? AT_END : INSIDE;
        coding->has_frame |= rest == 0;
    } while (input.pos < input.size && output.pos < output.size);
    span->bytes += input.pos;
    span->count -= input.pos;
    span->output += output.pos;
    span->room -= output.pos;
    return result;
}

int wi_coding_decode(
    wi_coding *coding, const uint8_t *bytes, size_t count, size_t *taken, uint8_t *output, size_t room, size_t *made) {
    *taken = *made = 0;
    /* zstd treats too many calls without progress as an error. */
    if (count == 0 && !coding->has_more) return 0;
    span span = {bytes, count, output, room};
    int result = 0;
    switch (coding->kind) {
    case WI_CODING_GZIP:
    case WI_CODING_DEFLATE: result = inflate_some(coding, &span); break;
    case WI_CODING_BROTLI: result = unpack_brotli(coding, &span); break;
    case WI_CODING_ZSTD: result = unpack_zstd(coding, &span); break;
    }
    *taken = coding->place == BEYOND ? count : count - span.count;
    *made = room - span.room;
    coding->has_more = span.room == 0;
    return result;
}
