#include "Internal.h"
#include <stdlib.h>
#include <string.h>

/* librsvg unpacks SVGZ itself, but without a limit. */

typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} growing;

/* Room for more, at most `most` bytes in all. */
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

static int inflate_all(wi_svg *svg, GConverter *converter, const uint8_t *bytes, size_t count, growing *output, size_t most) {
    for (;;) {
        int room = grow(output, most);
        if (room != WI_SVG_OK) return room;
        gsize read = 0, written = 0;
        GError *error = NULL;
        GConverterResult result = g_converter_convert(
            converter, bytes, count, output->bytes + output->count, output->capacity - output->count,
            G_CONVERTER_INPUT_AT_END, &read, &written, &error);
        if (result == G_CONVERTER_ERROR) {
            int is_cut = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT);
            return wi_svg_fail(svg, is_cut ? WI_SVG_TRUNCATED : WI_SVG_CORRUPT, error);
        }
        bytes += read;
        count -= read;
        output->count += written;
        if (result == G_CONVERTER_FINISHED) return WI_SVG_OK;
        if (read == 0 && written == 0) return WI_SVG_CORRUPT;
    }
}

int wi_svg_inflate(
    wi_svg *svg, const uint8_t *bytes, size_t count, size_t most, const uint8_t **output, size_t *output_count) {
    growing text = {NULL, 0, 0};
    if (svg->inflated != NULL) return WI_SVG_CORRUPT;
    GConverter *converter = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
    int result = inflate_all(svg, converter, bytes, count, &text, most);
    g_object_unref(converter);
    svg->inflated = text.bytes;
    *output = text.bytes;
    *output_count = text.count;
    return result;
}
