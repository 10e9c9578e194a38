#include "CShimPDF.h"
#include <gio/gio.h>

size_t wi_pdf_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t most) {
    GConverter *converter = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
    size_t done = 0;
    while (done < most) {
        gsize read = 0, written = 0;
        GConverterResult result = g_converter_convert(
            converter, bytes, count, output + done, most - done, G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
        if (result == G_CONVERTER_ERROR) break;
        bytes += read;
        count -= read;
        done += written;
        if (result == G_CONVERTER_FINISHED || (read == 0 && written == 0)) break;
    }
    g_object_unref(converter);
    return done;
}
