#include "ReducedScan.h"
#include <math.h>
#include <stdlib.h>
#include "Huffman.h"
#include "RowColors.h"

/* The sums are the same on every machine. */
#pragma clang fp contract(off)

typedef float wi_float4 __attribute__((vector_size(16)));
typedef int32_t wi_int4 __attribute__((vector_size(16)));
typedef uint8_t wi_byte4 __attribute__((vector_size(4)));

/* ITU-T T.81, figure A.6: where the coefficients lie, from the first, by columns and rows of 8. */
static const uint8_t zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

typedef struct {
    const wi_huffman *dc, *ac;
    /* Blocks and pixels of a block, across and down. */
    int columns, rows, width, height;
    /* The last coefficient that shows. */
    int last;
    /* What a coefficient's unit adds to each pixel of its block, four pixels at a time. */
    wi_float4 *basis;
    int quads;
    /* The last block's first coefficient, and what its unit adds. */
    int32_t mean;
    float mean_unit;
    /* The pixels of a row of units. */
    uint8_t *plane;
} component;

struct wi_reduced_scan {
    wi_scan_bytes bytes;
    wi_bits bits;
    component components[3];
    int count;
    /* The components in the scan's order. */
    int order[3];
    /* Makes RGBA of a row of the components. */
    wi_row_colors *put_row;
    /* Output, and units (MCUs) of blocks across; their pixels, and how many bytes a plane's row has. */
    uint32_t width, height, units, unit_width, unit_height;
    size_t plane_stride;
    /* The units of this row that are decoded, and the rows of pixels that were given out, of it and of all. */
    uint32_t unit, row, rows_done;
    unsigned restart_interval, units_to_restart;
    int next_restart;
    /* Whether the data was not enough since the last restart: the rest is gray. */
    int is_insufficient;
    wi_huffman dc_codes[NUM_HUFF_TBLS], ac_codes[NUM_HUFF_TBLS];
};

/* What each frequency adds to each of `count` pixels in place of 8. */
static void make_waves(float waves[8][8], int count) {
    for (int frequency = 0; frequency < count; frequency++) {
        double scale = frequency == 0 ? sqrt(0.125) : 0.5;
        for (int pixel = 0; pixel < count; pixel++)
            waves[frequency][pixel] = (float)(scale * cos((2 * pixel + 1) * frequency * M_PI / (2 * count)));
    }
}

static int make_basis(component *c, const JQUANT_TBL *quantizers) {
    float across[8][8], down[8][8];
    make_waves(across, c->width);
    make_waves(down, c->height);
    c->quads = (c->width * c->height + 3) / 4;
    c->basis = calloc(64, (size_t)c->quads * sizeof *c->basis);
    if (!c->basis) return 0;
    c->mean_unit = across[0][0] * down[0][0] * (float)quantizers->quantval[0];
    for (int index = 0; index < 64; index++) {
        int column = zigzag[index] & 7, row = zigzag[index] >> 3;
        if (column >= c->width || row >= c->height) continue;
        c->last = index;
        float *pixels = (float *)(c->basis + index * c->quads), unit = (float)quantizers->quantval[zigzag[index]];
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++) *pixels++ = across[column][x] * down[row][y] * unit;
    }
    return 1;
}

/* Copies rows of pixels, `width` of them in each. */
static inline void put_rows(const uint8_t *pixels, uint8_t *output, size_t stride, int rows, const int width) {
    for (int row = 0; row < rows; row++) memcpy(output + (size_t)row * stride, pixels + row * width, (size_t)width);
}

static inline uint8_t pixel(float sum) { return (uint8_t)((sum < 0 ? 0 : sum > 255 ? 255 : sum) + 0.5f); }

/* Writes a block of one colour. */
static inline void put_flat(const component *c, float sum, uint8_t *output, size_t stride) {
    for (int row = 0; row < c->height; row++) memset(output + (size_t)row * stride, pixel(sum), (size_t)c->width);
}

/* Writes the pixels of a block. */
static inline void put(const component *c, const wi_float4 *sums, uint8_t *output, size_t stride, const int quads) {
    const wi_float4 least = {0, 0, 0, 0}, most = {255, 255, 255, 255};
    uint8_t pixels[64];
    for (int index = 0; index < quads; index++) {
        wi_float4 sum = __builtin_elementwise_min(__builtin_elementwise_max(sums[index], least), most);
        wi_byte4 bytes = __builtin_convertvector(__builtin_convertvector(sum + 0.5f, wi_int4), wi_byte4);
        memcpy(pixels + 4 * index, &bytes, sizeof bytes);
    }
    switch (c->width) {
    case 1: return put_rows(pixels, output, stride, c->height, 1);
    case 2: return put_rows(pixels, output, stride, c->height, 2);
    case 4: return put_rows(pixels, output, stride, c->height, 4);
    default: return put_rows(pixels, output, stride, c->height, 8);
    }
}

/* Passes over the coefficients from place `at` to the end of a block. Returns 0 if more bytes must come first. */
static inline __attribute__((always_inline)) int skip(const wi_huffman *code, wi_scan_bytes *bytes, wi_bits *b, int at) {
    while (at < 64) {
        if (!wi_bits_fill(b, bytes)) return 0;
        int entry = code->skips[b->bits >> (64 - WI_SKIP_BITS)];
        int length = entry & ((1 << WI_SKIP_LENGTH) - 1), places = entry >> WI_SKIP_LENGTH, next = at + places;
        /* Where the block is full before it ends, what follows is of the next. */
        if (__builtin_expect(length != 0 && (next < 64 || (next < 128 && places >= 64)), 1)) {
            wi_bits_drop(b, length);
            at = next;
        } else {
            wi_huffman_next(code, b, &at);
        }
    }
    return 1;
}

/* Decodes a block. Returns 0 if more bytes must come first. */
static inline __attribute__((always_inline)) int
block(component *c, wi_scan_bytes *bytes, wi_bits *bits, uint8_t *output, size_t stride, const int quads) {
    wi_bits b = *bits;
    if (!wi_bits_fill(&b, bytes)) return 0;
    int at = 1, behind = 0;
    c->mean = (int16_t)(c->mean + (int)wi_huffman_next(c->dc, &b, &behind));
    float mean = (float)c->mean * c->mean_unit + 128.0f;
    wi_float4 sums[16];
    for (int index = 0; index < quads; index++) sums[index] = (wi_float4){mean, mean, mean, mean};
    int is_flat = 1;
    while (at <= c->last) {
        if (!wi_bits_fill(&b, bytes)) return 0;
        float value = wi_huffman_next(c->ac, &b, &at);
        if (at > 64) break;
        is_flat = 0;
        const wi_float4 *wave = c->basis + (at - 1) * quads;
        for (int index = 0; index < quads; index++) sums[index] += wave[index] * value;
    }
    if (!skip(c->ac, bytes, &b, at)) return 0;
    *bits = b;
    if (is_flat) put_flat(c, mean, output, stride);
    else put(c, sums, output, stride, quads);
    return 1;
}

static int decode_block(component *c, wi_scan_bytes *bytes, wi_bits *bits, uint8_t *output, size_t stride) {
    switch (c->quads) {
    case 1: return block(c, bytes, bits, output, stride, 1);
    case 2: return block(c, bytes, bits, output, stride, 2);
    case 4: return block(c, bytes, bits, output, stride, 4);
    case 8: return block(c, bytes, bits, output, stride, 8);
    default: return block(c, bytes, bits, output, stride, 16);
    }
}

/* Decodes the next unit. Returns 0 if more bytes must come first: then nothing has changed. */
static int decode_unit(wi_reduced_scan *s) {
    wi_bits before = s->bits;
    int32_t means[3] = {s->components[0].mean, s->components[1].mean, s->components[2].mean};
    for (int index = 0; index < s->count; index++) {
        component *c = &s->components[s->order[index]];
        uint8_t *output = c->plane + (size_t)s->unit * s->unit_width;
        for (int row = 0; row < c->rows; row++) {
            for (int column = 0; column < c->columns; column++) {
                uint8_t *place = output + (size_t)(row * c->height) * s->plane_stride + (size_t)(column * c->width);
                if (decode_block(c, &s->bytes, &s->bits, place, s->plane_stride)) continue;
                s->bits = before;
                for (int each = 0; each < 3; each++) s->components[each].mean = means[each];
                return 0;
            }
        }
    }
    return 1;
}

/* A unit of which nothing is known. */
static void fill_gray(wi_reduced_scan *s) {
    for (int index = 0; index < s->count; index++)
        for (uint32_t row = 0; row < s->unit_height; row++)
            memset(s->components[index].plane + row * s->plane_stride + (size_t)s->unit * s->unit_width, 128, s->unit_width);
}

/* Goes to the next marker. Returns its code; 0 if more bytes must come first, and 0xD9, as for an end, if there are none. */
static int find_marker(wi_reduced_scan *s) {
    for (; s->bytes.end - s->bits.next >= 2; s->bits.next++) {
        const uint8_t *at = s->bits.next;
        if (at[0] != 0xFF || at[1] == 0 || at[1] == 0xFF) continue;
        s->bytes.is_at_marker = 1;
        return at[1];
    }
    return s->bytes.has_ended ? 0xD9 : 0;
}

/* Goes behind the restart marker that is due, or finds its place (as jpeg_resync_to_restart does). Returns 0 if more bytes
   must come first. */
static int restart(wi_reduced_scan *s) {
    int wanted = s->next_restart;
    s->bits.bits = 0;
    s->bits.count = 0;
    for (;;) {
        int code = find_marker(s);
        if (code == 0) return 0;
        int ahead = (code - 0xD0 - wanted) & 7, is_restart = code >= 0xD0 && code <= 0xD7;
        /* One of the next two, or the end, stays for the units that it stands before. */
        if (code >= 0xC0 && (!is_restart || ahead == 1 || ahead == 2)) break;
        s->bits.next += 2;
        s->bytes.is_at_marker = 0;
        /* One of the last two, or what is no marker, is passed over. */
        if (!is_restart || ahead == 6 || ahead == 7) continue;
        s->is_insufficient = 0;
        break;
    }
    s->next_restart = (wanted + 1) & 7;
    s->units_to_restart = s->restart_interval;
    for (int index = 0; index < 3; index++) s->components[index].mean = 0;
    return 1;
}

/* Returns 0 if more bytes must come first, -1 if they have ended too early. */
static int next_unit(wi_reduced_scan *s) {
    if (s->restart_interval) {
        if (s->units_to_restart == 0 && !restart(s)) return 0;
        s->units_to_restart--;
    }
    if (s->is_insufficient) {
        fill_gray(s);
    } else if (!decode_unit(s)) {
        if (s->restart_interval) s->units_to_restart++;
        return 0;
    }
    if (s->bits.count < 0) s->is_insufficient = 1;
    if (s->is_insufficient && !s->bytes.is_at_marker) return -1;
    s->unit++;
    return 1;
}

static void write_row(const wi_reduced_scan *s, uint8_t *rgba) {
    size_t offset = s->row * s->plane_stride;
    const uint8_t *first = s->components[0].plane + offset;
    if (s->count == 1) return wi_row_merged(first, first, first, rgba, s->width);
    const uint8_t *second = s->components[1].plane + offset, *third = s->components[2].plane + offset;
    s->put_row(first, second, third, rgba, s->width);
}

int wi_reduced_scan_read(
    wi_reduced_scan *s, struct jpeg_source_mgr *source, int has_ended, uint8_t *rows, size_t stride, uint32_t count,
    uint32_t *done) {
    const uint8_t *bytes = source->next_input_byte;
    s->bytes.end = bytes + source->bytes_in_buffer;
    s->bytes.stop = s->bytes.plain_end = bytes;
    s->bytes.has_ended = has_ended;
    s->bits.next = bytes;
    int result = 1;
    while (*done < count && s->rows_done < s->height) {
        while (s->unit < s->units && result > 0) result = next_unit(s);
        if (result <= 0) break;
        write_row(s, rows + stride * *done);
        (*done)++;
        s->rows_done++;
        if (++s->row < s->unit_height) continue;
        s->row = 0;
        s->unit = 0;
    }
    source->bytes_in_buffer = (size_t)(s->bytes.end - s->bits.next);
    source->next_input_byte = s->bits.next;
    return result;
}

/* Whether each component has blocks for a whole number of pixels of the unit, and at most a block's. */
static int fits(int factor, int largest) { return factor > 0 && largest % factor == 0 && largest <= 2 * factor; }

int wi_reduced_scan_takes(const struct jpeg_decompress_struct *c) {
    if (c->progressive_mode || c->arith_code || c->data_precision != 8 || c->comps_in_scan != c->num_components) return 0;
    int is_gray = c->jpeg_color_space == JCS_GRAYSCALE && c->num_components == 1;
    int is_color = (c->jpeg_color_space == JCS_YCbCr || c->jpeg_color_space == JCS_RGB) && c->num_components == 3;
    if (!is_gray && !is_color) return 0;
    for (int index = 0; index < c->num_components; index++) {
        const jpeg_component_info *info = &c->comp_info[index];
        if (info->dc_tbl_no < 0 || info->dc_tbl_no >= NUM_HUFF_TBLS || !c->dc_huff_tbl_ptrs[info->dc_tbl_no]) return 0;
        if (info->ac_tbl_no < 0 || info->ac_tbl_no >= NUM_HUFF_TBLS || !c->ac_huff_tbl_ptrs[info->ac_tbl_no]) return 0;
        if (info->quant_tbl_no < 0 || info->quant_tbl_no >= NUM_QUANT_TBLS || !c->quant_tbl_ptrs[info->quant_tbl_no]) return 0;
        if (is_gray) continue;
        if (!fits(info->h_samp_factor, c->max_h_samp_factor) || !fits(info->v_samp_factor, c->max_v_samp_factor)) return 0;
    }
    return 1;
}

/* Smaller pictures are decoded sooner than the tables are made that pass over several coefficients at a time. */
static const uint64_t least_with_skips = 1 << 18;

/* Returns 0 for what is no code, or has a symbol above `most`. */
static int make_code(wi_huffman *code, const JHUFF_TBL *table, int most) {
    int symbols = 0;
    for (int length = 1; length <= 16; length++) symbols += table->bits[length];
    for (int index = 0; index < symbols && index < 256; index++)
        if (table->huffval[index] > most) return 0;
    return wi_huffman_make(code, table->bits, table->huffval);
}

static int make_codes(wi_reduced_scan *s, const struct jpeg_decompress_struct *c) {
    int is_dc_made[NUM_HUFF_TBLS] = {0}, is_ac_made[NUM_HUFF_TBLS] = {0};
    for (int index = 0; index < s->count; index++) {
        int dc = c->comp_info[index].dc_tbl_no, ac = c->comp_info[index].ac_tbl_no;
        s->components[index].dc = &s->dc_codes[dc];
        s->components[index].ac = &s->ac_codes[ac];
        if (!is_dc_made[dc] && !make_code(&s->dc_codes[dc], c->dc_huff_tbl_ptrs[dc], 15)) return 0;
        is_dc_made[dc] = 1;
        if (is_ac_made[ac]) continue;
        if (!make_code(&s->ac_codes[ac], c->ac_huff_tbl_ptrs[ac], 255)) return 0;
        is_ac_made[ac] = 1;
        if ((uint64_t)c->image_width * c->image_height >= least_with_skips) wi_huffman_make_skips(&s->ac_codes[ac]);
    }
    return 1;
}

static int make_components(wi_reduced_scan *s, const struct jpeg_decompress_struct *c, int pixels) {
    int across = s->count == 1 ? 1 : c->max_h_samp_factor, down = s->count == 1 ? 1 : c->max_v_samp_factor;
    s->unit_width = (uint32_t)(across * pixels);
    s->unit_height = (uint32_t)(down * pixels);
    s->units = (c->image_width + (JDIMENSION)(across * DCTSIZE) - 1) / (JDIMENSION)(across * DCTSIZE);
    s->plane_stride = (size_t)s->units * s->unit_width;
    for (int index = 0; index < s->count; index++) {
        const jpeg_component_info *info = &c->comp_info[index];
        component *made = &s->components[index];
        s->order[index] = c->cur_comp_info[index]->component_index;
        made->columns = s->count == 1 ? 1 : info->h_samp_factor;
        made->rows = s->count == 1 ? 1 : info->v_samp_factor;
        made->width = across / made->columns * pixels;
        made->height = down / made->rows * pixels;
        made->plane = calloc(s->unit_height, s->plane_stride);
        if (!made->plane || !make_basis(made, c->quant_tbl_ptrs[info->quant_tbl_no])) return 0;
    }
    return 1;
}

wi_reduced_scan *wi_reduced_scan_create(const struct jpeg_decompress_struct *c, int denominator) {
    int pixels = DCTSIZE / denominator;
    if (pixels > DCTSIZE / 2 || !wi_reduced_scan_takes(c)) return NULL;
    wi_reduced_scan *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->count = c->num_components;
    s->put_row = c->jpeg_color_space == JCS_RGB ? wi_row_merged : wi_row_converter();
    s->width = c->output_width;
    s->height = c->output_height;
    s->restart_interval = s->units_to_restart = c->restart_interval;
    if (make_codes(s, c) && make_components(s, c, pixels)) return s;
    wi_reduced_scan_destroy(s);
    return NULL;
}

void wi_reduced_scan_destroy(wi_reduced_scan *s) {
    if (!s) return;
    for (int index = 0; index < 3; index++) {
        free(s->components[index].plane);
        free(s->components[index].basis);
    }
    free(s);
}
