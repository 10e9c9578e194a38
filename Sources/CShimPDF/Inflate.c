#include "CShimPDF.h"
#include <zlib.h>

static uInt part(size_t count) { return count < 1 << 30 ? (uInt)count : 1 << 30; }

size_t wi_pdf_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t most) {
    z_stream stream = {.next_in = (Bytef *)bytes};
    size_t done = 0;
    int result = inflateInit(&stream);
    while (result == Z_OK && done < most) {
        uInt given = part(count), free = part(most - done);
        stream.avail_in = given;
        stream.next_out = output + done;
        stream.avail_out = free;
        result = inflate(&stream, Z_NO_FLUSH);
        count -= given - stream.avail_in;
        done += free - stream.avail_out;
    }
    inflateEnd(&stream);
    return done;
}
