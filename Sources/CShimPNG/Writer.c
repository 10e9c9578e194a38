#include "CShimPNG.h"
#include "CPixels.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

typedef struct {
    wi_png_output *output;
    size_t capacity;
    int failure;
    png_structp png;
    png_infop info;
    uint8_t *row;
} writer;

static void fail(png_structp png, png_const_charp message) {
    writer *w = png_get_error_ptr(png);
    if (w->failure == WI_PNG_OK) w->failure = WI_PNG_CORRUPT;
    snprintf(w->output->message, sizeof w->output->message, "%s", message);
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp message) { (void)png, (void)message; }

static png_voidp allocate(png_structp png, png_alloc_size_t count) {
    void *memory = malloc(count);
    writer *w = png_get_mem_ptr(png);
    if (!memory) w->failure = WI_PNG_NO_MEMORY;
    return memory;
}

static void release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

static void append(png_structp png, png_bytep bytes, size_t count) {
    writer *w = png_get_io_ptr(png);
    wi_png_output *o = w->output;
    if (count > w->capacity - o->count) {
        size_t capacity = (o->count + count) * 2 + 4096;
        uint8_t *bigger = realloc(o->bytes, capacity);
        if (!bigger) {
            w->failure = WI_PNG_NO_MEMORY;
            png_error(png, "no memory for the output");
        }
        o->bytes = bigger;
        w->capacity = capacity;
    }
    memcpy(o->bytes + o->count, bytes, count);
    o->count += count;
}

static void flush(png_structp png) { (void)png; }

/* A row of premultiplied pixels as straight ones. */
static void make_straight(const wi_png_picture *p, const uint8_t *row, uint8_t *out) {
    if (p->is_16_bit) {
        memcpy(out, row, p->width * 8);
        wi_unpremultiply_16((uint16_t *)(void *)out, p->width);
    } else {
        memcpy(out, row, p->width * 4);
        wi_unpremultiply_8(out, p->width);
    }
}

/* A row with one channel in place of three, in place or not. */
static void drop_colors(const wi_png_picture *p, const uint8_t *row, uint8_t *out) {
    size_t sample = p->is_16_bit ? 2 : 1, samples = p->alpha == 0 ? 1 : 2;
    for (size_t x = 0; x < p->width; x++) {
        const uint8_t *pixel = row + x * 4 * sample;
        uint8_t *place = out + x * samples * sample;
        for (size_t i = 0; i < sample; i++) place[i] = pixel[i];
        for (size_t i = 0; p->alpha != 0 && i < sample; i++) place[sample + i] = pixel[3 * sample + i];
    }
}

/* An `iTXt` chunk, not compressed, as XMP specification part 3, 1.1.5 asks for. By hand, since libpng would end it at a
   zero. */
static void write_xmp(png_structp png, const wi_png_picture *p) {
    static const char start[] = "XML:com.adobe.xmp\0\0\0\0";
    png_write_chunk_start(png, (png_const_bytep)"iTXt", (png_uint_32)(sizeof start + p->xmp_count));
    png_write_chunk_data(png, (png_const_bytep)start, sizeof start);
    png_write_chunk_data(png, p->xmp, p->xmp_count);
    png_write_chunk_end(png);
}

static void write_picture(writer *w, const wi_png_picture *p) {
    png_structp png = w->png;
    int color = (p->is_gray ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB) | (p->alpha == 0 ? 0 : PNG_COLOR_MASK_ALPHA);
    png_set_benign_errors(png, 1);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, w, append, flush);
    png_set_compression_level(png, p->level);
    png_set_IHDR(
        png, w->info, p->width, p->height, p->is_16_bit ? 16 : 8, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
        PNG_FILTER_TYPE_BASE);
    if (p->icc && p->icc_count)
        png_set_iCCP(png, w->info, "icc", PNG_COMPRESSION_TYPE_BASE, p->icc, (png_uint_32)p->icc_count);
    if (p->exif && p->exif_count) png_set_eXIf_1(png, w->info, (png_uint_32)p->exif_count, (png_bytep)p->exif);
    if (p->density_x && p->density_y) png_set_pHYs(png, w->info, p->density_x, p->density_y, PNG_RESOLUTION_METER);
    if (p->has_cicp) {
        /* It stands before the palette and the data; libpng 1.6.39 does not know it. */
        png_write_info_before_PLTE(png, w->info);
        png_write_chunk(png, (png_const_bytep)"cICP", p->cicp, sizeof p->cicp);
    }
    png_write_info(png, w->info);
    if (p->xmp && p->xmp_count) write_xmp(png, p);
    if (p->alpha == 0 && !p->is_gray) png_set_filler(png, 0, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (p->is_16_bit) png_set_swap(png);
#endif
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *source = p->pixels + p->stride * y;
        if (p->alpha == 2) make_straight(p, source, w->row);
        if (p->is_gray) drop_colors(p, p->alpha == 2 ? w->row : source, w->row);
        png_write_row(png, w->row ? w->row : source);
    }
    png_write_end(png, NULL);
}

int wi_png_encode(const wi_png_picture *p, wi_png_output *output) {
    memset(output, 0, sizeof *output);
    writer *w = calloc(1, sizeof *w);
    if (!w) return WI_PNG_NO_MEMORY;
    w->output = output;
    w->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, w, fail, warn, w, allocate, release);
    if (w->png) w->info = png_create_info_struct(w->png);
    int needs_row = p->alpha == 2 || p->is_gray;
    if (needs_row) w->row = malloc((size_t)p->width * (p->is_16_bit ? 8 : 4));
    int result = WI_PNG_OK;
    if (!w->info || (needs_row && !w->row)) {
        result = WI_PNG_NO_MEMORY;
    } else if (setjmp(png_jmpbuf(w->png))) {
        result = w->failure;
        free(output->bytes);
        output->bytes = NULL;
    } else {
        write_picture(w, p);
    }
    if (w->png) png_destroy_write_struct(&w->png, &w->info);
    free(w->row);
    free(w);
    return result;
}

void wi_png_free(wi_png_output *output) {
    free(output->bytes);
    output->bytes = NULL;
}
