#include "ScanReader.h"
#include <string.h>

void wi_scan_reader_begin(wi_scan_reader *r, unsigned restart_interval) {
    memset(r, 0, sizeof *r);
    r->restart_interval = r->units_to_restart = restart_interval;
}

void wi_scan_reader_enter(wi_scan_reader *r, const struct jpeg_source_mgr *source, int has_ended) {
    const uint8_t *bytes = source->next_input_byte;
    r->bytes.end = bytes + source->bytes_in_buffer;
    r->bytes.stop = r->bytes.plain_end = bytes;
    r->bytes.has_ended = has_ended;
    r->bits.next = bytes;
}

void wi_scan_reader_leave(wi_scan_reader *r, struct jpeg_source_mgr *source) {
    source->bytes_in_buffer = (size_t)(r->bytes.end - r->bits.next);
    source->next_input_byte = r->bits.next;
}

int wi_scan_reader_find_marker(wi_scan_reader *r) {
    for (; r->bytes.end - r->bits.next >= 2; r->bits.next++) {
        const uint8_t *at = r->bits.next;
        if (at[0] != 0xFF || at[1] == 0 || at[1] == 0xFF) continue;
        r->bytes.is_at_marker = 1;
        return at[1];
    }
    if (!r->bytes.has_ended) return 0;
    r->bits.next = r->bytes.end;
    return 0xD9;
}

int wi_scan_reader_restart(wi_scan_reader *r) {
    int wanted = r->next_restart;
    r->bits.bits = 0;
    r->bits.count = 0;
    for (;;) {
        int code = wi_scan_reader_find_marker(r);
        if (code == 0) return 0;
        int ahead = (code - 0xD0 - wanted) & 7, is_restart = code >= 0xD0 && code <= 0xD7;
        /* One of the next two restart markers, or another marker such as the end, is kept for the units after it. */
        if (code >= 0xC0 && (!is_restart || ahead == 1 || ahead == 2)) break;
        r->bits.next += 2;
        r->bytes.is_at_marker = 0;
        /* One of the last two restart markers, or an invalid marker, is skipped. */
        if (!is_restart || ahead == 6 || ahead == 7) continue;
        r->is_insufficient = 0;
        break;
    }
    r->next_restart = (wanted + 1) & 7;
    r->units_to_restart = r->restart_interval;
    return 1;
}
