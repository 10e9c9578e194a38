#include "ScanFilter.h"
#include <string.h>

void wi_scan_filter_begin(wi_scan_filter *f) {
    memset(f, 0, sizeof *f);
    f->state = WI_SCAN_DATA;
}

/* A marker's second byte (ITU-T T.81, B.1.1.3). Returns where the output goes on. */
static uint8_t *begin_marker(wi_scan_filter *f, uint8_t code, uint8_t *out) {
    f->drops = 0;
    if (code == 0xDA) {
        f->header[0] = 0xFF;
        f->header[1] = code;
        f->header_count = 2;
        f->state = WI_SCAN_HEADER;
        return out;
    }
    *out++ = 0xFF;
    *out++ = code;
    int stands_alone = code == 0x01 || (code >= 0xD0 && code <= 0xD9);
    f->header_count = 0;
    f->state = stands_alone ? WI_SCAN_BETWEEN : WI_SCAN_LENGTH;
    return out;
}

/* Whether nothing of a scan is wanted, by its whole header. */
static int is_dropped(const wi_scan_filter *f) {
    size_t count = f->header[4];
    if (f->header[5 + 2 * count] == 0) return 0;
    for (size_t index = 0; index < count; index++)
        if (!memchr(f->components, f->header[5 + 2 * index], (size_t)f->component_count)) return 0;
    return 1;
}

/* A byte of a scan's header (B.2.3): length, number of components, two bytes for each, first coefficient, and two more. */
static uint8_t *take_header(wi_scan_filter *f, uint8_t byte, uint8_t *out) {
    f->header[f->header_count++] = byte;
    if (f->header_count < 5) return out;
    size_t length = (size_t)f->header[2] << 8 | f->header[3], components = f->header[4];
    if (length != 6 + 2 * components || components > 4) {
        /* Nothing that a decoder takes: it shall say so. */
        memcpy(out, f->header, f->header_count);
        out += f->header_count;
        f->state = WI_SCAN_BETWEEN;
        return out;
    }
    if (f->header_count < 2 + length) return out;
    f->drops = is_dropped(f);
    f->state = WI_SCAN_DATA;
    if (f->drops) return out;
    memcpy(out, f->header, f->header_count);
    return out + f->header_count;
}

size_t wi_scan_filter_run(wi_scan_filter *f, const uint8_t *bytes, size_t count, uint8_t *output) {
    const uint8_t *at = bytes, *end = bytes + count;
    uint8_t *out = output;
    while (at < end) {
        switch (f->state) {
        case WI_SCAN_DATA: {
            const uint8_t *next = memchr(at, 0xFF, (size_t)(end - at));
            size_t run = (size_t)((next ? next : end) - at);
            if (!f->drops) {
                memmove(out, at, run);
                out += run;
            }
            at += run;
            if (next) {
                at++;
                f->state = WI_SCAN_DATA_FF;
            }
            break;
        }
        case WI_SCAN_DATA_FF: {
            uint8_t byte = *at++;
            if (byte == 0xFF) break;
            if (byte != 0 && !(byte >= 0xD0 && byte <= 0xD7)) {
                out = begin_marker(f, byte, out);
                break;
            }
            if (!f->drops) {
                *out++ = 0xFF;
                *out++ = byte;
            }
            f->state = WI_SCAN_DATA;
            break;
        }
        case WI_SCAN_BETWEEN: {
            uint8_t byte = *at++;
            if (byte == 0xFF) f->state = WI_SCAN_BETWEEN_FF;
            else *out++ = byte;
            break;
        }
        case WI_SCAN_BETWEEN_FF: {
            uint8_t byte = *at++;
            if (byte == 0xFF) break;
            if (byte != 0) {
                out = begin_marker(f, byte, out);
                break;
            }
            *out++ = 0xFF;
            *out++ = byte;
            f->state = WI_SCAN_BETWEEN;
            break;
        }
        case WI_SCAN_LENGTH:
            *out++ = f->header[f->header_count++] = *at++;
            if (f->header_count < 2) break;
            f->rest = (size_t)f->header[0] << 8 | f->header[1];
            f->rest = f->rest > 2 ? f->rest - 2 : 0;
            f->state = f->rest ? WI_SCAN_SEGMENT : WI_SCAN_BETWEEN;
            break;
        case WI_SCAN_SEGMENT: {
            size_t run = f->rest < (size_t)(end - at) ? f->rest : (size_t)(end - at);
            memmove(out, at, run);
            out += run;
            at += run;
            f->rest -= run;
            if (f->rest == 0) f->state = WI_SCAN_BETWEEN;
            break;
        }
        case WI_SCAN_HEADER: out = take_header(f, *at++, out); break;
        }
    }
    return (size_t)(out - output);
}
