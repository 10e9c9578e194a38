#include "CShimPNG.h"
#include <limits.h>
#include <zlib.h>

size_t wi_png_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity) {
    z_stream z = {0};
    if (count > UINT_MAX || capacity > UINT_MAX || inflateInit(&z) != Z_OK) return 0;
    // zlib does not write to its input, whatever its type says.
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)count;
    z.next_out = output;
    z.avail_out = (uInt)capacity;
    int result = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return result == Z_STREAM_END ? capacity - z.avail_out : 0;
}
