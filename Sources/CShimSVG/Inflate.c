#include "Internal.h"
#include <stdlib.h>
#include <zlib.h>

/* librsvg unpacks SVGZ itself, but without a limit. */

typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} growing;

/* Makes room for more output, at most `most` bytes in all. */
static int grow(growing *output, size_t most) {
    if (output->count < output->capacity) return WI_SVG_OK;
    if (output->capacity >= most) return WI_SVG_LIMIT;
    size_t wanted = output->capacity == 0 ? 64 << 10 : output->capacity * 2;
    if (wanted > most) wanted = most;
    uint8_t *larger = realloc(output->bytes, wanted);
    if (larger == NULL) return WI_SVG_NO_MEMORY;
    output->bytes = larger;
    output->capacity = wanted;
    return WI_SVG_OK;
}

static uInt part(size_t count) { return count < 1 << 30 ? (uInt)count : 1 << 30; }

static int inflate_all(wi_svg *svg, z_stream *stream, size_t count, growing *output, size_t most) {
    for (;;) {
        int room = grow(output, most);
        if (room != WI_SVG_OK) return room;
        uInt given = part(count), free = part(output->capacity - output->count);
        stream->avail_in = given;
        stream->next_out = output->bytes + output->count;
        stream->avail_out = free;
        int result = inflate(stream, Z_NO_FLUSH);
        count -= given - stream->avail_in;
        output->count += free - stream->avail_out;
        if (result == Z_STREAM_END) return WI_SVG_OK;
        if (result == Z_MEM_ERROR) return WI_SVG_NO_MEMORY;
        if (result == Z_BUF_ERROR && count == 0) return WI_SVG_TRUNCATED;
        if (result != Z_OK) {
            wi_message_copy(svg->message, sizeof svg->message, stream->msg != NULL ? stream->msg : "damaged gzip data");
            return WI_SVG_CORRUPT;
        }
    }
}

int wi_svg_inflate(
    wi_svg *svg, const uint8_t *bytes, size_t count, size_t most, const uint8_t **output, size_t *output_count) {
    growing text = {NULL, 0, 0};
    z_stream stream = {.next_in = (Bytef *)bytes};
    if (svg->inflated != NULL) return WI_SVG_CORRUPT;
    /* 16 plus the largest window means gzip only. */
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return WI_SVG_NO_MEMORY;
    int result = inflate_all(svg, &stream, count, &text, most);
    inflateEnd(&stream);
    svg->inflated = text.bytes;
    *output = text.bytes;
    *output_count = text.count;
    return result;
}
