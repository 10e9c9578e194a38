// Tables from bytes to bytes, which can replace any chain of operations that do not mix channels.
#include "CPixels.h"
#include "maps_x86.h"
#include <string.h>

static void wi_map_row_8_plain(
    uint8_t *output, const uint8_t *input, size_t from, size_t count, const uint8_t *tables, int opaque) {
    for (size_t i = from; i < count; i++) {
        const uint8_t *in = input + 4 * i;
        uint8_t *out = output + 4 * i;
        uint8_t alpha = opaque ? 255 : in[3], seen = alpha ? 255 : 0;
        out[0] = tables[in[0] & seen];
        out[1] = tables[256 + (in[1] & seen)];
        out[2] = tables[512 + (in[2] & seen)];
        out[3] = alpha;
    }
}

void wi_map_row_8(uint8_t *output, const uint8_t *input, size_t count, const uint8_t *tables, int opaque) {
    size_t done = 0;
#ifdef WI_MAPS_AVX2
    int is_one = memcmp(tables, tables + 256, 256) == 0 && memcmp(tables, tables + 512, 256) == 0;
    if (is_one && __builtin_cpu_supports("avx512vbmi")) done = wi_map_row_8_avx512(output, input, count, tables, opaque);
    else if (is_one && __builtin_cpu_supports("avx2")) done = wi_map_row_8_avx2(output, input, count, tables, opaque);
#endif
    wi_map_row_8_plain(output, input, done, count, tables, opaque);
}
