#include "CShimPNG.h"
#include "CPixels.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <zlib.h>
#include "Libraries.h"

typedef struct {
    wi_png_output *output;
    size_t capacity;
    int failure;
    png_structp png;
    png_infop info;
    uint8_t *row;
    /* The memory for compressing in one piece. */
    uint8_t *filtered, *scratch;
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

static void fail_without_memory(writer *w) {
    w->failure = WI_PNG_NO_MEMORY;
    png_error(w->png, "no memory for the picture");
}

/* Makes room in the output for `count` more bytes. */
static void make_room(writer *w, size_t count, size_t spare) {
    wi_png_output *o = w->output;
    if (count <= w->capacity - o->count) return;
    size_t capacity = o->count + count + spare;
    uint8_t *bigger = realloc(o->bytes, capacity);
    if (!bigger) fail_without_memory(w);
    o->bytes = bigger;
    w->capacity = capacity;
}

static void append(png_structp png, png_bytep bytes, size_t count) {
    writer *w = png_get_io_ptr(png);
    wi_png_output *o = w->output;
    make_room(w, count, o->count + count + 4096);
    memcpy(o->bytes + o->count, bytes, count);
    o->count += count;
}

static void flush(png_structp png) { (void)png; }

/* Converts a row of premultiplied pixels to straight ones. */
static void make_straight(const wi_png_picture *p, const uint8_t *row, uint8_t *out) {
    if (p->is_16_bit) {
        memcpy(out, row, p->width * 8);
        wi_unpremultiply_16((uint16_t *)(void *)out, p->width);
    } else {
        memcpy(out, row, p->width * 4);
        wi_unpremultiply_8(out, p->width);
    }
}

/* Converts a row to one channel instead of three; `out` may be `row`. */
static void drop_colors(const wi_png_picture *p, const uint8_t *row, uint8_t *out) {
    size_t sample = p->is_16_bit ? 2 : 1, samples = p->alpha == 0 ? 1 : 2;
    for (size_t x = 0; x < p->width; x++) {
        const uint8_t *pixel = row + x * 4 * sample;
        uint8_t *place = out + x * samples * sample;
        for (size_t i = 0; i < sample; i++) place[i] = pixel[i];
        for (size_t i = 0; p->alpha != 0 && i < sample; i++) place[sample + i] = pixel[3 * sample + i];
    }
}

/* Writes an `iTXt` chunk that is not compressed, as XMP specification part 3, 1.1.5 demands. libpng's own function is not used,
   because it would end the text at a zero. */
static void write_xmp(png_structp png, const wi_png_picture *p) {
    static const char start[] = "XML:com.adobe.xmp\0\0\0\0";
    png_write_chunk_start(png, (png_const_bytep)"iTXt", (png_uint_32)(sizeof start + p->xmp_count));
    png_write_chunk_data(png, (png_const_bytep)start, sizeof start);
    png_write_chunk_data(png, p->xmp, p->xmp_count);
    png_write_chunk_end(png);
}

/* Returns a row of straight pixels with the channels that are written: the picture's own, or else `w->row`. */
static const uint8_t *prepare(writer *w, const wi_png_picture *p, uint32_t y) {
    const uint8_t *row = p->pixels + p->stride * y;
    if (p->alpha == 2) {
        make_straight(p, row, w->row);
        row = w->row;
    }
    if (p->is_gray) {
        drop_colors(p, row, w->row);
        row = w->row;
    }
    return row;
}

static void write_palette(writer *w, const wi_png_picture *p) {
    png_color colors[256];
    png_byte alphas[256];
    int count = (int)p->palette_count, translucent = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t *color = p->palette + 4 * i;
        colors[i] = (png_color){color[0], color[1], color[2]};
        alphas[i] = color[3];
        if (color[3] != 255) translucent = i + 1;
    }
    png_set_PLTE(w->png, w->info, colors, count);
    if (translucent) png_set_tRNS(w->png, w->info, alphas, translucent, NULL);
}

#ifdef WI_HAS_LIBDEFLATE
/* Makes a row of the file from pixels that are straight and have the channels that are written. */
static void pack(const wi_png_picture *p, const uint8_t *row, uint8_t *out, size_t channels) {
    size_t pixels = p->width;
    /* Gray has been packed already, the others have four channels. */
    size_t stored = p->is_gray ? channels : 4;
    if (!p->is_16_bit && stored == channels) {
        memcpy(out, row, pixels * channels);
    } else if (!p->is_16_bit) {
        /* The fourth byte is overwritten by the next pixel; at the row's end there is room for it. */
        for (size_t x = 0; x < pixels; x++) memcpy(out + 3 * x, row + 4 * x, 4);
    } else {
        for (size_t x = 0; x < pixels; x++)
            for (size_t c = 0; c < channels; c++) {
                uint16_t value;
                memcpy(&value, row + 2 * (stored * x + c), 2);
                out[2 * (channels * x + c)] = (uint8_t)(value >> 8);
                out[2 * (channels * x + c) + 1] = (uint8_t)value;
            }
    }
}

/* Makes all rows of indices into the palette, the first in the highest bits. Filters would not make them shorter (PNG
   specification, 12.7). */
static void pack_places(writer *w, const wi_png_picture *p, size_t row_bytes) {
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *row = p->pixels + p->stride * y;
        uint8_t *out = w->filtered + (1 + row_bytes) * y;
        *out++ = 0;
        if (p->palette_bits == 8) {
            memcpy(out, row, row_bytes);
            continue;
        }
        memset(out, 0, row_bytes);
        for (size_t x = 0; x < p->width; x++) {
            size_t bit = x * (size_t)p->palette_bits;
            out[bit / 8] |= (uint8_t)(row[x] << (8 - p->palette_bits - (int)(bit % 8)));
        }
    }
}

/* Makes all rows, each with the filter that has the smallest result, as libpng chooses it (PNG specification, 12.7). */
static void filter_rows(writer *w, const wi_png_picture *p, size_t channels, size_t row_bytes) {
    size_t pixel = channels * (p->is_16_bit ? 2 : 1), padded = 8 + row_bytes + 8;
    uint8_t *rows[2] = {w->scratch + 8, w->scratch + padded + 8};
    uint8_t *least = w->scratch + 2 * padded, *other = least + row_bytes;
    for (uint32_t y = 0; y < p->height; y++) {
        uint8_t *row = rows[y & 1], *above = rows[~y & 1], *out = w->filtered + (1 + row_bytes) * y;
        pack(p, prepare(w, p, y), row, channels);
        uint32_t sum = wi_png_filter(0, row, above, least, row_bytes, pixel);
        out[0] = 0;
        for (int filter = 1; filter <= 4; filter++) {
            uint32_t next = wi_png_filter(filter, row, above, other, row_bytes, pixel);
            if (next >= sum) continue;
            sum = next;
            out[0] = (uint8_t)filter;
            uint8_t *swap = least;
            least = other;
            other = swap;
        }
        memcpy(out + 1, least, row_bytes);
    }
}

static void store_number(uint8_t *bytes, size_t number) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(number >> (24 - 8 * i));
}

/* Writes the picture's data as one chunk, and the end of the file. Returns 0 if the data must be written in pieces. */
static int write_at_once(writer *w, const wi_png_picture *p) {
    /* For each level of zlib, the fastest level of libdeflate that reaches its size. */
    static const int levels[] = {0, 1, 2, 3, 3, 4, 5, 6, 7, 9};
    size_t channels = (p->is_gray ? 1 : 3) + (p->alpha == 0 ? 0 : 1);
    size_t row_bytes = channels * p->width * (p->is_16_bit ? 2 : 1);
    if (p->palette) row_bytes = ((size_t)p->width * (size_t)p->palette_bits + 7) / 8;
    size_t bytes = (1 + row_bytes) * p->height;
    if (p->level < 1 || p->is_interlaced || bytes > p->most_at_once || bytes > INT32_MAX / 2) return 0;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(levels[p->level]);
    if (!compressor) return 0;
    size_t most = libdeflate_zlib_compress_bound(compressor, bytes);
    w->filtered = malloc(bytes);
    w->scratch = calloc(2 * (8 + row_bytes + 8) + 2 * row_bytes, 1);
    uint8_t *output = w->filtered && w->scratch ? realloc(w->output->bytes, w->output->count + most + 12) : NULL;
    if (!output) {
        libdeflate_free_compressor(compressor);
        fail_without_memory(w);
    }
    w->output->bytes = output;
    w->capacity = w->output->count + most + 12;
    if (p->palette)
        pack_places(w, p, row_bytes);
    else
        filter_rows(w, p, channels, row_bytes);
    uint8_t *chunk = output + w->output->count;
    size_t count = libdeflate_zlib_compress(compressor, w->filtered, bytes, chunk + 8, most);
    libdeflate_free_compressor(compressor);
    if (count == 0) return 0;
    store_number(chunk, count);
    memcpy(chunk + 4, "IDAT", 4);
    store_number(chunk + 8 + count, libdeflate_crc32(0, chunk + 4, 4 + count));
    w->output->count += 12 + count;
    png_write_chunk(w->png, (png_const_bytep)"IEND", NULL, 0);
    return 1;
}
#else
static int write_at_once(writer *w, const wi_png_picture *p) { return (void)w, (void)p, 0; }
#endif

/* libpng itself writes no profile in which it finds a fault, and does not say so. */
static void write_profile(writer *w, const wi_png_picture *p) {
    static const uint8_t head[] = {'i', 'c', 'c', 0, PNG_COMPRESSION_TYPE_BASE};
    uLongf count = compressBound(p->icc_count);
    w->scratch = malloc(sizeof head + count);
    if (!w->scratch) fail_without_memory(w);
    memcpy(w->scratch, head, sizeof head);
    if (compress(w->scratch + sizeof head, &count, p->icc, p->icc_count) != Z_OK) fail_without_memory(w);
    png_write_chunk(w->png, (png_const_bytep)"iCCP", w->scratch, sizeof head + count);
    free(w->scratch);
    w->scratch = NULL;
}

static void write_picture(writer *w, const wi_png_picture *p) {
    png_structp png = w->png;
    int color =
        p->palette ? PNG_COLOR_TYPE_PALETTE : (p->is_gray ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB) | (p->alpha == 0 ? 0 : PNG_COLOR_MASK_ALPHA);
    png_set_benign_errors(png, 1);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, w, append, flush);
    png_set_compression_level(png, p->level);
    png_set_IHDR(
        png, w->info, p->width, p->height, p->palette ? p->palette_bits : p->is_16_bit ? 16 : 8, color,
        p->is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (p->palette) write_palette(w, p);
    if (p->exif && p->exif_count) png_set_eXIf_1(png, w->info, (png_uint_32)p->exif_count, (png_bytep)p->exif);
    if (p->density_x && p->density_y) png_set_pHYs(png, w->info, p->density_x, p->density_y, PNG_RESOLUTION_METER);
    /* These chunks precede the palette and the data. libpng 1.6.39 does not know the second. */
    png_write_info_before_PLTE(png, w->info);
    if (p->icc && p->icc_count) write_profile(w, p);
    if (p->has_cicp) png_write_chunk(png, (png_const_bytep)"cICP", p->cicp, sizeof p->cicp);
    png_write_info(png, w->info);
    if (p->xmp && p->xmp_count) write_xmp(png, p);
    if (write_at_once(w, p)) return;
    if (p->palette) png_set_packing(png);
    if (p->alpha == 0 && !p->is_gray && !p->palette) png_set_filler(png, 0, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (p->is_16_bit) png_set_swap(png);
#endif
    /* libpng uses the pixels of each row that belong to the pass. */
    int passes = p->is_interlaced ? png_set_interlace_handling(png) : 1;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < p->height; y++) png_write_row(png, prepare(w, p, y));
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
    free(w->filtered);
    free(w->scratch);
    free(w);
    return result;
}

void wi_png_free(wi_png_output *output) {
    free(output->bytes);
    output->bytes = NULL;
}
