#include "ProgressiveScans.h"
#include <stdlib.h>
#include <jerror.h>
#include "Bands.h"
#include "CShimJPEG.h"
#include "ReducedPicture.h"
#include "ScanHeaders.h"
#include "ScanReader.h"

/* Makes the sums the same on every machine. */
#pragma clang fp contract(off)

/* The known coefficients of a component. */
typedef struct {
    /* The number of blocks across and down, without and with those that only fill up units. */
    uint32_t across, down, stored_across, stored_down;
    wi_blocks blocks;
    /* How many of the lowest bits of each coefficient have not been read yet; -1: all of them. */
    int8_t open_bits[DCTSIZE2];
    /* The first coefficient of the last block in this scan. */
    int32_t mean;
} coefficients;

struct wi_progressive_scans {
    wi_reduced_picture picture;
    coefficients components[4];
    wi_scan_reader reader;
    enum { AT_SCAN, IN_SCAN, BEHIND_SCAN, COMPLETE } state;
    /* The current scan: its components; whether it has a band, or else the first coefficients of blocks; whether it has only a
       further bit; and the lowest bit that it has. */
    int count, order[4], is_band, is_refining, low;
    wi_band band;
    /* The units in each row of the scan, and its rows; how many units of the current row have been read, and which row that is. */
    uint32_t units, rows, unit, row;
    wi_huffman codes[NUM_HUFF_TBLS];
    /* The number of the scan, from 1, and whether the bytes ended in it. */
    int number, ran_out;
    /* The row of units that is rendered to the planes, and whether that has been done. */
    uint32_t shown_row;
    int is_shown;
};

int wi_progressive_scans_takes(const struct jpeg_decompress_struct *c) {
    return c->progressive_mode && wi_reduced_picture_takes(c);
}

/* How many blocks a component has for `pixels` pixels. */
static uint32_t block_count(JDIMENSION pixels, int factor, int largest) {
    uint64_t size = (uint64_t)largest * DCTSIZE;
    return (uint32_t)(((uint64_t)pixels * (uint64_t)factor + size - 1) / size);
}

static int make_coefficients(
    coefficients *made, const wi_reduced_picture *picture, int index, const struct jpeg_decompress_struct *c) {
    const wi_reduced_component *component = &picture->components[index];
    const jpeg_component_info *info = &c->comp_info[index];
    made->across = block_count(c->image_width, info->h_samp_factor, c->max_h_samp_factor);
    made->down = block_count(c->image_height, info->v_samp_factor, c->max_v_samp_factor);
    made->stored_across = picture->units * (unsigned)component->columns;
    made->stored_down = picture->unit_rows * (unsigned)component->rows;
    wi_blocks *blocks = &made->blocks;
    blocks->kept = component->shown;
    for (int place = 0; place < DCTSIZE2; place++) {
        made->open_bits[place] = -1;
        if (component->shown >> place & 1) blocks->slots[place] = (uint8_t)blocks->value_count++;
    }
    size_t count = (size_t)made->stored_across * made->stored_down;
    blocks->values = calloc(count, (size_t)blocks->value_count * sizeof *blocks->values);
    blocks->nonzero = calloc(count, sizeof *blocks->nonzero);
    return blocks->values && blocks->nonzero;
}

wi_progressive_scans *wi_progressive_scans_create(const struct jpeg_decompress_struct *c, int denominator) {
    wi_progressive_scans *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    int is_made = wi_reduced_picture_make(&s->picture, c, denominator);
    for (int index = 0; is_made && index < s->picture.count; index++)
        is_made = make_coefficients(&s->components[index], &s->picture, index, c);
    if (is_made) return s;
    wi_progressive_scans_destroy(s);
    return NULL;
}

void wi_progressive_scans_destroy(wi_progressive_scans *s) {
    if (!s) return;
    wi_reduced_picture_free(&s->picture);
    for (int index = 0; index < 4; index++) {
        free(s->components[index].blocks.values);
        free(s->components[index].blocks.nonzero);
    }
    free(s);
}

/* Makes the codes of a scan. */
static void make_code(wi_progressive_scans *s, j_decompress_ptr c, int table, int most) {
    JHUFF_TBL *const *tables = most == WI_MOST_DC_SYMBOL ? c->dc_huff_tbl_ptrs : c->ac_huff_tbl_ptrs;
    if (table < 0 || table >= NUM_HUFF_TBLS || !tables[table]) ERREXIT1(c, JERR_NO_HUFF_TABLE, table);
    memset(&s->codes[table], 0, sizeof s->codes[table]);
    if (!wi_huffman_make(&s->codes[table], tables[table]->bits, tables[table]->huffval, most)) ERREXIT(c, JERR_BAD_HUFF_TABLE);
}

/* Whether the scan that is described in `c` affects the result. If a block becomes one pixel, bands do not. Otherwise all scans
   must be read, because the position of bits in a later scan depends on which coefficients are zero. */
static int shows(const wi_progressive_scans *s, const struct jpeg_decompress_struct *c) {
    return c->Ss == 0 || s->picture.components[c->cur_comp_info[0]->component_index].last > 0;
}

static void note_open_bits(wi_progressive_scans *s, const struct jpeg_decompress_struct *c) {
    for (int index = 0; index < c->comps_in_scan; index++) {
        coefficients *known = &s->components[c->cur_comp_info[index]->component_index];
        for (int place = c->Ss; place <= c->Se; place++) known->open_bits[place] = (int8_t)c->Al;
        known->mean = 0;
    }
}

/* Begins the scan whose header was read last. */
static void begin_scan(wi_progressive_scans *s, j_decompress_ptr c) {
    wi_scan_header_check(c);
    s->number = c->input_scan_number;
    s->count = c->comps_in_scan;
    for (int index = 0; index < s->count; index++) {
        const jpeg_component_info *info = c->cur_comp_info[index];
        int component = s->order[index] = info->component_index;
        if (!s->picture.components[component].basis) {
            /* Tables that come later do not apply to components that have begun. */
            if (info->quant_tbl_no < 0 || info->quant_tbl_no >= NUM_QUANT_TBLS || !c->quant_tbl_ptrs[info->quant_tbl_no])
                ERREXIT1(c, JERR_NO_QUANT_TABLE, info->quant_tbl_no);
            if (!wi_reduced_component_begin(&s->picture.components[component], c->quant_tbl_ptrs[info->quant_tbl_no]))
                ERREXIT1(c, JERR_OUT_OF_MEMORY, 0);
        }
        if (c->Ss == 0 && c->Ah == 0) make_code(s, c, info->dc_tbl_no, WI_MOST_DC_SYMBOL);
        if (c->Ss > 0) make_code(s, c, info->ac_tbl_no, WI_MOST_AC_SYMBOL);
    }
    note_open_bits(s, c);
    const coefficients *only = &s->components[s->order[0]];
    s->units = s->count == 1 ? only->across : s->picture.units;
    s->rows = s->count == 1 ? only->down : s->picture.unit_rows;
    s->low = c->Al;
    s->is_refining = c->Ah != 0;
    s->is_band = c->Ss > 0;
    const wi_huffman *code = s->is_band ? &s->codes[c->cur_comp_info[0]->ac_tbl_no] : NULL;
    s->band = wi_band_begin(c->Ss, c->Se, c->Al, s->is_refining, code);
    s->unit = s->row = 0;
    wi_scan_reader_begin(&s->reader, c->restart_interval);
    s->state = shows(s, c) ? IN_SCAN : BEHIND_SCAN;
}

/* Reads the first coefficients of a unit's blocks, or a further bit of them. Returns 0 if more bytes must arrive first. */
static int decode_means(wi_progressive_scans *s, const struct jpeg_decompress_struct *c, uint32_t unit) {
    wi_bits b = s->reader.bits;
    int32_t means[4];
    for (int each = 0; each < 4; each++) means[each] = s->components[each].mean;
    for (int index = 0; index < s->count; index++) {
        coefficients *known = &s->components[s->order[index]];
        const wi_reduced_component *component = &s->picture.components[s->order[index]];
        /* The unit of a scan of one component is a block. */
        uint32_t columns = s->count == 1 ? 1 : (uint32_t)component->columns;
        uint32_t rows = s->count == 1 ? 1 : (uint32_t)component->rows;
        for (uint32_t block = 0; block < columns * rows; block++) {
            size_t down = (size_t)s->row * rows + block / columns, across = (size_t)unit * columns + block % columns;
            int16_t *value = known->blocks.values + (down * known->stored_across + across) * (size_t)known->blocks.value_count;
            if (!wi_bits_fill(&b, &s->reader.bytes)) {
                for (int each = 0; each < 4; each++) s->components[each].mean = means[each];
                return 0;
            }
            if (s->is_refining) {
                *value |= (int16_t)((int)(b.bits >> 63) << s->low);
                wi_bits_drop(&b, 1);
                continue;
            }
            int size = wi_huffman_symbol(&s->codes[c->cur_comp_info[index]->dc_tbl_no], &b);
            known->mean = (int32_t)((uint32_t)known->mean + (uint32_t)wi_bits_value(&b, size));
            *value = (int16_t)((uint32_t)known->mean << s->low);
        }
    }
    s->reader.bits = b;
    return 1;
}

/* Reads up to `count` units, of those that are left in the row and before the next restart. Returns how many. */
static uint32_t decode_units(wi_progressive_scans *s, const struct jpeg_decompress_struct *c, uint32_t count) {
    if (s->is_band) {
        const coefficients *known = &s->components[s->order[0]];
        size_t block = (size_t)s->row * known->stored_across + s->unit;
        return s->band.read(&s->band, &s->reader, &known->blocks, block, count);
    }
    uint32_t done = 0;
    while (done < count && s->reader.bits.count >= 0 && decode_means(s, c, s->unit + done)) done++;
    return done;
}

/* Decodes the rest of a row of units. Returns 0 if more bytes must arrive first. */
static int decode_row(wi_progressive_scans *s, const struct jpeg_decompress_struct *c) {
    wi_scan_reader *reader = &s->reader;
    while (s->unit < s->units) {
        if (reader->restart_interval && reader->units_to_restart == 0) {
            if (!wi_scan_reader_restart(reader)) return 0;
            s->band.ended_blocks = 0;
            for (int index = 0; index < 4; index++) s->components[index].mean = 0;
        }
        uint32_t count = s->units - s->unit;
        if (reader->restart_interval && count > reader->units_to_restart) count = reader->units_to_restart;
        /* Units after missing data are skipped, up to the next restart. */
        uint32_t done = reader->is_insufficient ? count : decode_units(s, c, count);
        s->unit += done;
        if (reader->restart_interval) reader->units_to_restart -= done;
        if (reader->bits.count < 0) {
            reader->is_insufficient = 1;
            s->ran_out = !reader->bytes.is_at_marker;
            if (s->ran_out) return 1;
        } else if (done < count) {
            return 0;
        }
    }
    return 1;
}

int wi_progressive_scans_consume(wi_progressive_scans *s, j_decompress_ptr c, int has_ended, int steps) {
    for (; steps > 0 && s->state != COMPLETE; steps--) {
        if (s->state == AT_SCAN) begin_scan(s, c);
        if (s->state == IN_SCAN) {
            wi_scan_reader_enter(&s->reader, c->src, has_ended);
            int is_done = decode_row(s, c);
            wi_scan_reader_leave(&s->reader, c->src);
            if (!is_done) return WI_JPEG_NEEDS_BYTES;
            if (s->ran_out) {
                s->state = COMPLETE;
                break;
            }
            s->unit = 0;
            if (++s->row == s->rows) s->state = BEHIND_SCAN;
        }
        if (s->state == BEHIND_SCAN) {
            int result = wi_scan_header_read(c, has_ended);
            if (result == WI_JPEG_NEEDS_BYTES) return result;
            s->state = result == WI_JPEG_READY ? COMPLETE : AT_SCAN;
        }
    }
    return s->state == COMPLETE ? WI_JPEG_READY : WI_JPEG_MORE;
}

int wi_progressive_scans_ran_out(const wi_progressive_scans *s, int *scan, JDIMENSION *row) {
    int is_single = s->count == 1;
    *scan = s->number;
    *row = s->row / (is_single ? (uint32_t)s->picture.components[s->order[0]].rows : 1);
    return s->ran_out;
}

int wi_progressive_scans_are_exact(const wi_progressive_scans *s) {
    for (int index = 0; index < s->picture.count; index++)
        for (int place = 0; place <= s->picture.components[index].last; place++)
            if (s->picture.components[index].shown >> place & 1 && s->components[index].open_bits[place] != 0) return 0;
    return 1;
}

static inline __attribute__((always_inline)) void show_block(
    const wi_reduced_component *c, const coefficients *known, size_t block, uint8_t *output, size_t stride, const int quads) {
    const int16_t *values = known->blocks.values + block * (size_t)known->blocks.value_count;
    float mean = (float)values[0] * c->mean_unit + 128.0f;
    uint64_t rest = known->blocks.nonzero[block] & c->shown & ~UINT64_C(1);
    if (!rest) return wi_put_flat(c, mean, output, stride);
    wi_float4 sums[16];
    for (int index = 0; index < quads; index++) sums[index] = (wi_float4){mean, mean, mean, mean};
    for (; rest; rest &= rest - 1) {
        int place = __builtin_ctzll(rest);
        const wi_float4 *wave = c->basis + place * quads;
        float value = values[known->blocks.slots[place]];
        for (int index = 0; index < quads; index++) sums[index] += wave[index] * value;
    }
    wi_put_block(c, sums, output, stride, quads);
}

static inline __attribute__((always_inline)) void
show_component(const wi_reduced_component *c, const coefficients *known, uint32_t unit_row, size_t stride, const int quads) {
    for (uint32_t row = 0; row < (uint32_t)c->rows; row++) {
        size_t block = (size_t)(unit_row * (uint32_t)c->rows + row) * known->stored_across;
        uint8_t *output = c->plane + (size_t)row * (size_t)c->height * stride;
        for (uint32_t column = 0; column < known->stored_across; column++, block++, output += c->width)
            show_block(c, known, block, output, stride, quads);
    }
}

static void show_row(wi_progressive_scans *s) {
    size_t stride = s->picture.plane_stride;
    for (int index = 0; index < s->picture.count; index++) {
        const wi_reduced_component *c = &s->picture.components[index];
        const coefficients *known = &s->components[index];
        switch (c->quads) {
        case 1: show_component(c, known, s->shown_row, stride, 1); break;
        case 2: show_component(c, known, s->shown_row, stride, 2); break;
        case 4: show_component(c, known, s->shown_row, stride, 4); break;
        case 8: show_component(c, known, s->shown_row, stride, 8); break;
        default: show_component(c, known, s->shown_row, stride, 16); break;
        }
    }
}

void wi_progressive_scans_start_output(wi_progressive_scans *s) {
    s->picture.row = s->picture.rows_done = 0;
    s->shown_row = 0;
    s->is_shown = 0;
}

uint32_t wi_progressive_scans_read(wi_progressive_scans *s, uint8_t *rows, size_t stride, uint32_t count) {
    uint32_t done = 0;
    for (; done < count && s->picture.rows_done < s->picture.height; done++) {
        if (!s->is_shown) show_row(s);
        s->is_shown = 1;
        if (!wi_reduced_picture_write_row(&s->picture, rows + stride * done)) continue;
        s->shown_row++;
        s->is_shown = 0;
    }
    return done;
}
