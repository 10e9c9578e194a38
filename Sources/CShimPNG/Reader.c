#include "Reader.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(png_structp png, png_const_charp message) {
    wi_png_reader *r = png_get_error_ptr(png);
    if (r->failure == WI_PNG_OK) r->failure = WI_PNG_CORRUPT;
    snprintf(r->message, sizeof r->message, "%s", message);
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp message) { (void)png, (void)message; }

static png_voidp allocate(png_structp png, png_alloc_size_t count) {
    void *memory = malloc(count);
    wi_png_reader *r = png_get_mem_ptr(png);
    if (!memory) r->failure = WI_PNG_NO_MEMORY;
    return memory;
}

static void release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

/* The picture's data begins: chooses RGBA. */
static void on_info(png_structp png, png_infop info) {
    wi_png_reader *r = png_get_progressive_ptr(png);
    wi_png_info *h = &r->header;
    h->width = png_get_image_width(png, info);
    h->height = png_get_image_height(png, info);
    h->bit_depth = png_get_bit_depth(png, info);
    h->is_gray = !(png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR);
    h->has_palette = png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE;
    h->is_interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    h->has_alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    h->is_16_bit = h->bit_depth == 16 && r->keeps_16_bit;
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    if (h->is_16_bit) {
        png_set_add_alpha(png, 0xFFFF, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        png_set_swap(png);
#endif
    } else {
        png_set_scale_16(png);
        png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    h->row_bytes = png_get_rowbytes(png, info);
    if (h->row_bytes != (size_t)h->width * (h->is_16_bit ? 8 : 4)) png_error(png, "an unexpected row length");
    r->has_header = 1;
}

int wi_png_has_place(const wi_png_reader *r, uint32_t number) {
    return number >= r->first && number - r->first < r->count;
}

uint8_t *wi_png_place(wi_png_reader *r, uint32_t number, uint32_t *room) {
    if (!wi_png_has_place(r, number)) {
        uint32_t count = 0;
        r->rows = r->next_rows(r->context, number, &count);
        if (!r->rows || count == 0) return NULL;
        r->first = number;
        r->count = count;
    }
    *room = r->first + r->count - number;
    return r->rows + r->header.row_bytes * (number - r->first);
}

void wi_png_filled(wi_png_reader *r, uint32_t number) { r->written = number - r->first; }

static void on_row(png_structp png, png_bytep row, png_uint_32 number, int pass) {
    wi_png_reader *r = png_get_progressive_ptr(png);
    const wi_png_info *h = &r->header;
    r->pass = pass;
    if (number >= h->height) return;
    /* The rows of pictures that are not interlaced are read by ourselves. */
    if (h->is_interlaced) {
        if (!r->rows) png_error(png, "no memory was given for the picture");
        if (row) png_progressive_combine_row(png, r->rows + r->stride * number, row);
        r->written = number + 1;
        if (number + 1 == h->height && pass == 6) r->has_all_rows = 1;
    }
}

static void on_end(png_structp png, png_infop info) {
    (void)info;
    wi_png_reader *r = png_get_progressive_ptr(png);
    r->at_end = 1;
}

wi_png_reader *wi_png_create(
    size_t chunk_limit, int keeps_16_bit, int uses_zlib, void *context, wi_png_next_rows next_rows) {
    wi_png_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->keeps_16_bit = keeps_16_bit;
    r->uses_zlib = uses_zlib;
    r->context = context;
    r->next_rows = next_rows;
    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, fail, warn, r, allocate, release);
    if (r->png) r->info = png_create_info_struct(r->png);
    if (!r->info || setjmp(png_jmpbuf(r->png))) {
        wi_png_destroy(r);
        return NULL;
    }
    /* The caller has checked the size before it pushes the header. */
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(r->png, chunk_limit < 1024 ? 1024 : chunk_limit);
    png_set_chunk_cache_max(r->png, 64);
    png_set_progressive_read_fn(r->png, r, on_info, on_row, on_end);
    return r;
}

void wi_png_destroy(wi_png_reader *r) {
    if (!r) return;
    png_destroy_read_struct(&r->png, &r->info, NULL);
    wi_plain_destroy(r->plain);
    free(r);
}

int wi_png_push(wi_png_reader *r, const uint8_t *bytes, size_t count) {
    if (setjmp(png_jmpbuf(r->png))) return r->failure;
    png_process_data(r->png, r->info, (png_bytep)bytes, count);
    return WI_PNG_OK;
}

/* Whether PlainRows.h reads the rows, which come only once. A picture of indices without a palette is left to libpng, which
   refuses it. */
static int is_plain(wi_png_reader *r) {
    return png_get_image_width(r->png, r->info) > 0
        && png_get_interlace_type(r->png, r->info) == PNG_INTERLACE_NONE
        && (png_get_color_type(r->png, r->info) != PNG_COLOR_TYPE_PALETTE
            || png_get_valid(r->png, r->info, PNG_INFO_PLTE));
}

int wi_png_begin_data(wi_png_reader *r, const uint8_t *header) {
    /* A chunk with an empty zlib stream. */
    static const uint8_t nothing[] = {0, 0, 0, 8, 'I', 'D', 'A', 'T', 0x78, 0x9C, 0x03, 0, 0, 0, 0, 1, 0x48, 0x06, 0x89, 0xD2};
    int is_first = !r->has_data;
    r->has_data = 1;
    if (is_first && is_plain(r)) {
        r->plain = wi_plain_create(r);
        if (!r->plain) return r->failure = WI_PNG_NO_MEMORY;
        wi_plain_begin_chunk(r->plain, header);
        return wi_png_push(r, nothing, sizeof nothing);
    }
    if (!r->plain) return wi_png_push(r, header, 8);
    wi_plain_begin_chunk(r->plain, header);
    return WI_PNG_OK;
}

int wi_png_push_data(wi_png_reader *r, const uint8_t *bytes, size_t count) {
    return r->plain ? wi_plain_push(r->plain, r, bytes, count) : wi_png_push(r, bytes, count);
}

int wi_png_flush_data(wi_png_reader *r) { return r->plain ? wi_plain_flush(r->plain, r) : WI_PNG_OK; }

void wi_png_set_together(wi_png_reader *r, wi_png_together together) { r->together = together; }

int wi_png_header(wi_png_reader *r, wi_png_info *info) {
    if (r->has_header) *info = r->header;
    return r->has_header;
}

void wi_png_set_picture(wi_png_reader *r, uint8_t *rows, size_t stride) {
    r->rows = rows;
    r->stride = stride;
}

uint32_t wi_png_rows(wi_png_reader *r) { return r->written; }

void wi_png_forget_rows(wi_png_reader *r) {
    r->rows = NULL;
    r->count = 0;
    r->written = 0;
}

int wi_png_pass(wi_png_reader *r) { return r->pass; }
int wi_png_at_end(wi_png_reader *r) { return r->at_end; }
int wi_png_has_all_rows(wi_png_reader *r) { return r->has_all_rows; }

const uint8_t *wi_png_icc(wi_png_reader *r, size_t *count) {
    png_charp name = NULL;
    int compression = 0;
    png_bytep bytes = NULL;
    png_uint_32 length = 0;
    if (setjmp(png_jmpbuf(r->png))) return NULL;
    if (!png_get_iCCP(r->png, r->info, &name, &compression, &bytes, &length)) return NULL;
    *count = length;
    return bytes;
}

const uint8_t *wi_png_xmp(wi_png_reader *r, size_t *count) {
    png_textp texts = NULL;
    int texts_count = 0;
    if (setjmp(png_jmpbuf(r->png))) return NULL;
    png_get_text(r->png, r->info, &texts, &texts_count);
    for (int index = 0; index < texts_count; index++) {
        const png_text *text = &texts[index];
        if (text->compression < PNG_ITXT_COMPRESSION_NONE || strcmp(text->key, "XML:com.adobe.xmp") != 0) continue;
        *count = text->itxt_length;
        return (const uint8_t *)text->text;
    }
    return NULL;
}

const char *wi_png_message(wi_png_reader *r) { return r->message; }
