#include "Inflater.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "CShimPNG.h"
#include "Libraries.h"

struct wi_inflater {
    z_stream zlib;
    int has_zlib;
    const char *message;
#ifdef WI_HAS_ISAL
    struct inflate_state *isal;
    /* The header of the zlib stream. */
    uint8_t header[2];
    int header_bytes;
#endif
};

wi_inflater *wi_inflater_create(int plain) {
    wi_inflater *i = calloc(1, sizeof *i);
    if (!i) return NULL;
#ifdef WI_HAS_ISAL
    if (!plain) {
        /* Zeroed, because for a damaged stream ISA-L may return memory as output that it has not written. */
        i->isal = calloc(1, sizeof *i->isal);
        if (!i->isal) {
            free(i);
            return NULL;
        }
        isal_inflate_init(i->isal);
        i->isal->crc_flag = ISAL_DEFLATE;
        return i;
    }
#endif
    (void)plain;
    if (inflateInit(&i->zlib) != Z_OK) {
        free(i);
        return NULL;
    }
    i->has_zlib = 1;
    inflateValidate(&i->zlib, 0);
    return i;
}

void wi_inflater_destroy(wi_inflater *i) {
    if (!i) return;
    if (i->has_zlib) inflateEnd(&i->zlib);
#ifdef WI_HAS_ISAL
    free(i->isal);
#endif
    free(i);
}

const char *wi_inflater_message(const wi_inflater *i) {
    return i->message ? i->message : "the data cannot be inflated";
}

#ifdef WI_HAS_ISAL
static wi_inflate_state broken(wi_inflater *i, const char *message) {
    i->message = message;
    return WI_INFLATE_CORRUPT;
}

/* ISA-L notices that a copy reaches too far back only after it has counted it as output. A copy has at most this many bytes (RFC
   1951, 3.2.5). */
enum { LONGEST_COPY = 258 };

/* Writes the output from before the damage that is still in ISA-L's own buffer. */
static wi_inflate_state give_rest(wi_inflater *i, uint8_t **output, size_t *room) {
    struct inflate_state *z = i->isal;
    size_t rest = (size_t)(z->tmp_out_valid - z->tmp_out_processed), given = rest < *room ? rest : *room;
    memcpy(*output, z->tmp_out_buffer + z->tmp_out_processed, given);
    z->tmp_out_processed += (int32_t)given;
    *output += given;
    *room -= given;
    return given < rest ? WI_INFLATE_MORE : WI_INFLATE_CORRUPT;
}

/* Handles a damaged stream. The end of the output of this call, which is `made` bytes and the contents of ISA-L's buffer, may be
   wrong, and is removed. */
static wi_inflate_state end_broken(wi_inflater *i, const char *message, size_t made, uint8_t **output, size_t *room) {
    struct inflate_state *z = i->isal;
    i->message = message;
    if (z->tmp_out_processed < 0 || z->tmp_out_valid > (int32_t)sizeof z->tmp_out_buffer
        || z->tmp_out_valid < z->tmp_out_processed)
        z->tmp_out_valid = z->tmp_out_processed = 0;
    size_t rest = (size_t)(z->tmp_out_valid - z->tmp_out_processed);
    size_t unsure = rest < LONGEST_COPY ? rest : LONGEST_COPY;
    z->tmp_out_valid -= (int32_t)unsure;
    unsure = LONGEST_COPY - unsure;
    if (unsure > made) unsure = made;
    *output -= unsure;
    *room += unsure;
    return give_rest(i, output, room);
}

static wi_inflate_state inflate_isal(
    wi_inflater *i, const uint8_t **bytes, size_t *count, uint8_t **output, size_t *room) {
    while (i->header_bytes < 2) {
        if (*count == 0) return WI_INFLATE_MORE;
        i->header[i->header_bytes++] = *(*bytes)++;
        (*count)--;
        if (i->header_bytes < 2) continue;
        /* RFC 1950, 2.2: the method is deflate, its window at most 32 KiB; both bytes are a multiple of 31; no dictionary. */
        if ((i->header[0] << 8 | i->header[1]) % 31 != 0) return broken(i, "incorrect header check");
        if ((i->header[0] & 15) != 8) return broken(i, "unknown compression method");
        if (i->header[0] >> 4 > 7) return broken(i, "invalid window size");
        if (i->header[1] & 32) return broken(i, "a dictionary is wanted");
    }
    if (i->message) return give_rest(i, output, room);
    struct inflate_state *z = i->isal;
    uint32_t taken = *count > UINT_MAX ? UINT_MAX : (uint32_t)*count, given = *room > UINT_MAX ? UINT_MAX : (uint32_t)*room;
    /* ISA-L does not write to its input, whatever its type says. */
    z->next_in = (uint8_t *)(uintptr_t)*bytes;
    z->avail_in = taken;
    z->next_out = *output;
    z->avail_out = given;
    int status = isal_inflate(z);
    size_t made = given - z->avail_out;
    *bytes += taken - z->avail_in;
    *count -= taken - z->avail_in;
    *output += made;
    *room -= made;
    switch (status) {
    case ISAL_DECOMP_OK:
    case ISAL_END_INPUT:
    case ISAL_OUT_OVERFLOW: return z->block_state == ISAL_BLOCK_FINISH ? WI_INFLATE_END : WI_INFLATE_MORE;
    case ISAL_INVALID_BLOCK: return end_broken(i, "invalid block", made, output, room);
    case ISAL_INVALID_SYMBOL: return end_broken(i, "invalid code", made, output, room);
    case ISAL_INVALID_LOOKBACK: return end_broken(i, "invalid distance too far back", made, output, room);
    default: return end_broken(i, "the data cannot be inflated", made, output, room);
    }
}
#endif

wi_inflate_state wi_inflate(
    wi_inflater *i, const uint8_t **bytes, size_t *count, uint8_t **output, size_t *room) {
#ifdef WI_HAS_ISAL
    if (i->isal) return inflate_isal(i, bytes, count, output, room);
#endif
    z_stream *z = &i->zlib;
    uInt taken = *count > UINT_MAX ? UINT_MAX : (uInt)*count, given = *room > UINT_MAX ? UINT_MAX : (uInt)*room;
    /* zlib does not write to its input, whatever its type says. */
    z->next_in = (Bytef *)(uintptr_t)*bytes;
    z->avail_in = taken;
    z->next_out = *output;
    z->avail_out = given;
    int status = inflate(z, Z_SYNC_FLUSH);
    *bytes += taken - z->avail_in;
    *count -= taken - z->avail_in;
    *output += given - z->avail_out;
    *room -= given - z->avail_out;
    switch (status) {
    case Z_STREAM_END: return WI_INFLATE_END;
    case Z_OK:
    case Z_BUF_ERROR: return WI_INFLATE_MORE;
    case Z_MEM_ERROR: return WI_INFLATE_NO_MEMORY;
    default:
        i->message = z->msg;
        return WI_INFLATE_CORRUPT;
    }
}

uint32_t wi_png_crc(uint32_t sum, const uint8_t *bytes, size_t count) {
#ifdef WI_HAS_LIBDEFLATE
    return libdeflate_crc32(sum, bytes, count);
#else
    while (count > UINT_MAX) {
        sum = (uint32_t)crc32(sum, bytes, UINT_MAX);
        bytes += UINT_MAX;
        count -= UINT_MAX;
    }
    return (uint32_t)crc32(sum, bytes, (uInt)count);
#endif
}

size_t wi_png_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity) {
    z_stream z = {0};
    if (count > UINT_MAX || capacity > UINT_MAX || inflateInit(&z) != Z_OK) return 0;
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)count;
    z.next_out = output;
    z.avail_out = (uInt)capacity;
    int result = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return result == Z_STREAM_END ? capacity - z.avail_out : 0;
}
