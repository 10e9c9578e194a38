#include "ReducedScan.h"
#include <stdlib.h>
#include "ReducedPicture.h"
#include "ScanReader.h"

/* Makes the sums the same on every machine. */
#pragma clang fp contract(off)

typedef struct {
    const wi_huffman *dc, *ac;
    /* The first coefficient of the last block. */
    int32_t mean;
} component_codes;

struct wi_reduced_scan {
    wi_reduced_picture picture;
    wi_scan_reader reader;
    component_codes codes[4];
    /* The components in the scan's order. */
    int order[4];
    /* How many units of this row are decoded. */
    uint32_t unit;
    wi_huffman dc_codes[NUM_HUFF_TBLS], ac_codes[NUM_HUFF_TBLS];
};

/* Skips the coefficients from place `at` to the end of a block. Returns 0 if more bytes must arrive first. */
static inline __attribute__((always_inline)) int skip(const wi_huffman *code, wi_scan_bytes *bytes, wi_bits *b, int at) {
    while (at < 64) {
        if (!wi_bits_fill(b, bytes)) return 0;
        int entry = code->skips[b->bits >> (64 - WI_SKIP_BITS)];
        int length = entry & ((1 << WI_SKIP_LENGTH) - 1), places = entry >> WI_SKIP_LENGTH, next = at + places;
        /* If the block is full without an end symbol, the following bits belong to the next block. */
        if (__builtin_expect(length != 0 && (next < 64 || (next < 128 && places >= 64)), 1)) {
            wi_bits_drop(b, length);
            at = next;
        } else {
            wi_huffman_next(code, b, &at);
        }
    }
    return 1;
}

/* Decodes a block. Returns 0 if more bytes must arrive first. */
static inline __attribute__((always_inline)) int block(
    const wi_reduced_component *c, component_codes *codes, wi_scan_reader *reader, uint8_t *output, size_t stride,
    const int quads) {
    wi_bits b = reader->bits;
    wi_scan_bytes *bytes = &reader->bytes;
    if (!wi_bits_fill(&b, bytes)) return 0;
    int at = 1, behind = 0;
    codes->mean = (int16_t)(codes->mean + (int)wi_huffman_next(codes->dc, &b, &behind));
    float mean = (float)codes->mean * c->mean_unit + 128.0f;
    wi_float4 sums[16];
    for (int index = 0; index < quads; index++) sums[index] = (wi_float4){mean, mean, mean, mean};
    int is_flat = 1;
    while (at <= c->last) {
        if (!wi_bits_fill(&b, bytes)) return 0;
        float value = wi_huffman_next(codes->ac, &b, &at);
        if (at > 64) break;
        is_flat = 0;
        const wi_float4 *wave = c->basis + (at - 1) * quads;
        for (int index = 0; index < quads; index++) sums[index] += wave[index] * value;
    }
    if (!skip(codes->ac, bytes, &b, at)) return 0;
    reader->bits = b;
    if (is_flat) wi_put_flat(c, mean, output, stride);
    else wi_put_block(c, sums, output, stride, quads);
    return 1;
}

static int decode_block(
    const wi_reduced_component *c, component_codes *codes, wi_scan_reader *reader, uint8_t *output, size_t stride) {
    switch (c->quads) {
    case 1: return block(c, codes, reader, output, stride, 1);
    case 2: return block(c, codes, reader, output, stride, 2);
    case 4: return block(c, codes, reader, output, stride, 4);
    case 8: return block(c, codes, reader, output, stride, 8);
    default: return block(c, codes, reader, output, stride, 16);
    }
}

/* Decodes the next unit. Returns 0 if more bytes must arrive first: nothing has changed then. */
static int decode_unit(wi_reduced_scan *s) {
    wi_bits before = s->reader.bits;
    size_t stride = s->picture.plane_stride;
    int32_t means[4] = {s->codes[0].mean, s->codes[1].mean, s->codes[2].mean, s->codes[3].mean};
    for (int index = 0; index < s->picture.count; index++) {
        const wi_reduced_component *c = &s->picture.components[s->order[index]];
        uint8_t *output = c->plane + (size_t)s->unit * s->picture.unit_width;
        for (int row = 0; row < c->rows; row++) {
            for (int column = 0; column < c->columns; column++) {
                uint8_t *place = output + (size_t)(row * c->height) * stride + (size_t)(column * c->width);
                if (decode_block(c, &s->codes[s->order[index]], &s->reader, place, stride)) continue;
                s->reader.bits = before;
                for (int each = 0; each < 4; each++) s->codes[each].mean = means[each];
                return 0;
            }
        }
    }
    return 1;
}

/* Makes a unit gray of which nothing is known. */
static void fill_gray(wi_reduced_scan *s) {
    size_t width = s->picture.unit_width, stride = s->picture.plane_stride;
    for (int index = 0; index < s->picture.count; index++)
        for (uint32_t row = 0; row < s->picture.unit_height; row++)
            memset(s->picture.components[index].plane + row * stride + (size_t)s->unit * width, 128, width);
}

/* Goes to the next unit, over a restart marker if one is due, and decodes it. Returns 0 if more bytes must arrive first, -1 if
   they have ended too early. */
static int next_unit(wi_reduced_scan *s) {
    wi_scan_reader *reader = &s->reader;
    if (reader->restart_interval) {
        if (reader->units_to_restart == 0) {
            if (!wi_scan_reader_restart(reader)) return 0;
            for (int index = 0; index < 4; index++) s->codes[index].mean = 0;
        }
        reader->units_to_restart--;
    }
    if (reader->is_insufficient) {
        fill_gray(s);
    } else if (!decode_unit(s)) {
        if (reader->restart_interval) reader->units_to_restart++;
        return 0;
    }
    if (reader->bits.count < 0) reader->is_insufficient = 1;
    if (reader->is_insufficient && !reader->bytes.is_at_marker) return -1;
    s->unit++;
    return 1;
}

int wi_reduced_scan_read(
    wi_reduced_scan *s, struct jpeg_source_mgr *source, int has_ended, uint8_t *rows, size_t stride, uint32_t count,
    uint32_t *done) {
    wi_scan_reader_enter(&s->reader, source, has_ended);
    int result = 1;
    while (*done < count && s->picture.rows_done < s->picture.height) {
        while (s->unit < s->picture.units && result > 0) result = next_unit(s);
        if (result <= 0) break;
        if (wi_reduced_picture_write_row(&s->picture, rows + stride * *done)) s->unit = 0;
        (*done)++;
    }
    wi_scan_reader_leave(&s->reader, source);
    return result;
}

int wi_reduced_scan_takes(const struct jpeg_decompress_struct *c) {
    if (c->progressive_mode || c->comps_in_scan != c->num_components || !wi_reduced_picture_takes(c)) return 0;
    for (int index = 0; index < c->num_components; index++) {
        const jpeg_component_info *info = &c->comp_info[index];
        if (info->dc_tbl_no < 0 || info->dc_tbl_no >= NUM_HUFF_TBLS || !c->dc_huff_tbl_ptrs[info->dc_tbl_no]) return 0;
        if (info->ac_tbl_no < 0 || info->ac_tbl_no >= NUM_HUFF_TBLS || !c->ac_huff_tbl_ptrs[info->ac_tbl_no]) return 0;
        if (info->quant_tbl_no < 0 || info->quant_tbl_no >= NUM_QUANT_TBLS || !c->quant_tbl_ptrs[info->quant_tbl_no]) return 0;
    }
    return 1;
}

/* The number of pixels from which tables are made that skip several coefficients at a time. Smaller pictures are decoded sooner
   than such tables are made. */
static const uint64_t least_with_skips = 1 << 18;

static int make_code(wi_huffman *code, const JHUFF_TBL *table, int most) {
    if (!wi_huffman_make(code, table->bits, table->huffval, most)) return 0;
    wi_huffman_make_whole(code);
    return 1;
}

static int make_codes(wi_reduced_scan *s, const struct jpeg_decompress_struct *c) {
    int is_dc_made[NUM_HUFF_TBLS] = {0}, is_ac_made[NUM_HUFF_TBLS] = {0};
    for (int index = 0; index < c->num_components; index++) {
        int dc = c->comp_info[index].dc_tbl_no, ac = c->comp_info[index].ac_tbl_no;
        s->codes[index].dc = &s->dc_codes[dc];
        s->codes[index].ac = &s->ac_codes[ac];
        if (!is_dc_made[dc] && !make_code(&s->dc_codes[dc], c->dc_huff_tbl_ptrs[dc], WI_MOST_DC_SYMBOL)) return 0;
        is_dc_made[dc] = 1;
        if (is_ac_made[ac]) continue;
        if (!make_code(&s->ac_codes[ac], c->ac_huff_tbl_ptrs[ac], WI_MOST_AC_SYMBOL)) return 0;
        is_ac_made[ac] = 1;
        if ((uint64_t)c->image_width * c->image_height >= least_with_skips) wi_huffman_make_skips(&s->ac_codes[ac]);
    }
    return 1;
}

wi_reduced_scan *wi_reduced_scan_create(const struct jpeg_decompress_struct *c, int denominator) {
    wi_reduced_scan *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    wi_scan_reader_begin(&s->reader, c->restart_interval);
    int is_made = make_codes(s, c) && wi_reduced_picture_make(&s->picture, c, denominator);
    for (int index = 0; is_made && index < c->num_components; index++) {
        s->order[index] = c->cur_comp_info[index]->component_index;
        const JQUANT_TBL *quantizers = c->quant_tbl_ptrs[c->comp_info[index].quant_tbl_no];
        is_made = wi_reduced_component_begin(&s->picture.components[index], quantizers);
    }
    if (is_made) return s;
    wi_reduced_scan_destroy(s);
    return NULL;
}

void wi_reduced_scan_destroy(wi_reduced_scan *s) {
    if (!s) return;
    wi_reduced_picture_free(&s->picture);
    free(s);
}
