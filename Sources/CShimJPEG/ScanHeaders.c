#include "ScanHeaders.h"
#include <string.h>
#include <jerror.h>
#include "CShimJPEG.h"
#include "ReducedPicture.h"

enum { SOF_FIRST = 0xC0, DHT = 0xC4, JPG = 0xC8, DAC = 0xCC, SOF_LAST = 0xCF, RST_FIRST = 0xD0, SOI = 0xD8, EOI = 0xD9 };
enum { SOS = 0xDA, DQT = 0xDB, DNL = 0xDC, DRI = 0xDD, APP_FIRST = 0xE0, APP_LAST = 0xEF, COM = 0xFE, TEM = 0x01 };

static void drop(j_decompress_ptr c, size_t count) {
    c->src->next_input_byte += count;
    c->src->bytes_in_buffer -= count;
}

/* Moves to the next marker. Returns its second byte, or 0 if more bytes must arrive first. */
static int find_marker(j_decompress_ptr c) {
    for (;;) {
        const uint8_t *at = c->src->next_input_byte;
        const uint8_t *found = memchr(at, 0xFF, c->src->bytes_in_buffer);
        drop(c, found ? (size_t)(found - at) : c->src->bytes_in_buffer);
        if (c->src->bytes_in_buffer < 2) return 0;
        int code = found[1];
        if (code != 0 && code != 0xFF) return code;
        drop(c, code == 0 ? 2 : 1);
    }
}

static void read_codes(j_decompress_ptr c, const uint8_t *at, size_t count) {
    while (count > 16) {
        int index = at[0] & 15, symbols = 0;
        for (int length = 1; length <= 16; length++) symbols += at[length];
        if (symbols > 256 || (size_t)symbols > count - 17) ERREXIT(c, JERR_BAD_HUFF_TABLE);
        if (at[0] >> 4 > 1 || index >= NUM_HUFF_TBLS) ERREXIT1(c, JERR_DHT_INDEX, at[0]);
        JHUFF_TBL **table = (at[0] >> 4 ? c->ac_huff_tbl_ptrs : c->dc_huff_tbl_ptrs) + index;
        if (!*table) *table = jpeg_alloc_huff_table((j_common_ptr)c);
        memset((*table)->huffval, 0, sizeof (*table)->huffval);
        memcpy((*table)->bits + 1, at + 1, 16);
        memcpy((*table)->huffval, at + 17, (size_t)symbols);
        at += 17 + symbols;
        count -= 17 + (size_t)symbols;
    }
    if (count != 0) ERREXIT(c, JERR_BAD_LENGTH);
}

static void read_quantizers(j_decompress_ptr c, const uint8_t *at, size_t count) {
    while (count > 0) {
        int index = at[0] & 15;
        size_t size = at[0] >> 4 ? 2 : 1;
        if (index >= NUM_QUANT_TBLS) ERREXIT1(c, JERR_DQT_INDEX, index);
        if (count < 1 + DCTSIZE2 * size) ERREXIT(c, JERR_BAD_LENGTH);
        if (!c->quant_tbl_ptrs[index]) c->quant_tbl_ptrs[index] = jpeg_alloc_quant_table((j_common_ptr)c);
        at++;
        for (int place = 0; place < DCTSIZE2; place++, at += size)
            c->quant_tbl_ptrs[index]->quantval[wi_zigzag[place]] = (UINT16)(size == 2 ? at[0] << 8 | at[1] : at[0]);
        count -= 1 + DCTSIZE2 * size;
    }
}

static jpeg_component_info *component(j_decompress_ptr c, int id, int in_scan) {
    for (int index = 0; index < c->num_components; index++) {
        jpeg_component_info *info = &c->comp_info[index];
        int is_taken = info->component_id != id;
        for (int other = 0; other < in_scan; other++) is_taken |= c->cur_comp_info[other] == info;
        if (!is_taken) return info;
    }
    ERREXIT1(c, JERR_BAD_COMPONENT_ID, id);
    return NULL;
}

static void read_scan(j_decompress_ptr c, const uint8_t *at, size_t count) {
    int components = count > 0 ? at[0] : 0;
    if (components < 1 || components > MAX_COMPS_IN_SCAN || count != (size_t)components * 2 + 4) ERREXIT(c, JERR_BAD_LENGTH);
    for (int index = 0; index < components; index++) {
        const uint8_t *entry = at + 1 + 2 * index;
        jpeg_component_info *info = component(c, entry[0], index);
        c->cur_comp_info[index] = info;
        info->dc_tbl_no = entry[1] >> 4;
        info->ac_tbl_no = entry[1] & 15;
    }
    const uint8_t *rest = at + 1 + 2 * components;
    c->comps_in_scan = components;
    c->Ss = rest[0];
    c->Se = rest[1];
    c->Ah = rest[2] >> 4;
    c->Al = rest[2] & 15;
    c->input_scan_number++;
}

/* Reads the segment after a marker. */
static void read_segment(j_decompress_ptr c, int code, const uint8_t *at, size_t count) {
    switch (code) {
    case DHT: return read_codes(c, at, count);
    case DQT: return read_quantizers(c, at, count);
    case SOS: return read_scan(c, at, count);
    case DRI:
        if (count != 2) ERREXIT(c, JERR_BAD_LENGTH);
        c->restart_interval = (unsigned)(at[0] << 8 | at[1]);
        return;
    default: ERREXIT(c, JERR_SOF_DUPLICATE);
    }
}

/* Whether the segment after a marker does not matter here. */
static int is_comment(int code) {
    return (code >= APP_FIRST && code <= APP_LAST) || code == COM || code == DNL || code == DAC;
}

int wi_scan_header_read(j_decompress_ptr c, int has_ended) {
    /* A marker at which the file ends is ignored. */
    int waits = has_ended ? WI_JPEG_READY : WI_JPEG_NEEDS_BYTES;
    for (;;) {
        int code = find_marker(c);
        if (code == 0) return waits;
        if (code == EOI) return WI_JPEG_READY;
        if (code == SOI) ERREXIT(c, JERR_SOI_DUPLICATE);
        if (code == TEM || (code >= RST_FIRST && code < SOI)) {
            drop(c, 2);
            continue;
        }
        int is_frame = code >= SOF_FIRST && code <= SOF_LAST && code != DHT && code != DAC;
        int is_known = is_frame || is_comment(code) || code == DHT || code == DQT || code == SOS || code == DRI;
        if (!is_known) ERREXIT1(c, JERR_UNKNOWN_MARKER, code);
        if (is_frame && code != 0xC0 && code != 0xC1 && code != 0xC2 && code != 0xC9 && code != 0xCA)
            ERREXIT1(c, JERR_SOF_UNSUPPORTED, code);
        if (c->src->bytes_in_buffer < 4) return waits;
        const uint8_t *at = c->src->next_input_byte;
        size_t length = (size_t)at[2] << 8 | at[3];
        if (is_comment(code)) {
            drop(c, 4);
            c->src->skip_input_data(c, (long)length - 2);
            continue;
        }
        if (length < 2 || (code == SOS && length > 6 + 2 * MAX_COMPS_IN_SCAN)) ERREXIT(c, JERR_BAD_LENGTH);
        if (c->src->bytes_in_buffer < 2 + length) return waits;
        drop(c, 2 + length);
        read_segment(c, code, at + 4, length - 2);
        if (code == SOS) return WI_JPEG_MORE;
    }
}

void wi_scan_header_check(j_decompress_ptr c) {
    int is_band = c->Ss > 0;
    int is_sound = is_band ? c->Se >= c->Ss && c->Se < DCTSIZE2 && c->comps_in_scan == 1 : c->Se == 0;
    if (!is_sound || (c->Ah != 0 && c->Al != c->Ah - 1) || c->Al > 13)
        ERREXIT4(c, JERR_BAD_PROGRESSION, c->Ss, c->Se, c->Ah, c->Al);
    int blocks = 0;
    for (int index = 0; index < c->comps_in_scan; index++)
        blocks += c->cur_comp_info[index]->h_samp_factor * c->cur_comp_info[index]->v_samp_factor;
    if (c->comps_in_scan > 1 && blocks > D_MAX_BLOCKS_IN_MCU) ERREXIT(c, JERR_BAD_MCU_SIZE);
}
