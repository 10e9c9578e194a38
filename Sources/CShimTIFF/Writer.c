/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiff.h>
#include <tiffio.h>

#include "CPixels.h"
#include "CShimTIFF.h"

struct wi_tiff_writer {
    TIFF *tiff;
    uint8_t *bytes;
    uint64_t count, capacity, position;
    int has_no_memory;
    char message[256];
};

// MARK: the file, in memory

static int reserve(wi_tiff_writer *f, uint64_t count) {
    if (count <= f->capacity) return 1;
    uint64_t capacity = count > SIZE_MAX / 2 ? count : count + count / 2 + 4096;
    uint8_t *bigger = realloc(f->bytes, (size_t)capacity);
    if (bigger == NULL) return 0;
    f->bytes = bigger;
    f->capacity = capacity;
    return 1;
}

static tmsize_t write_bytes(thandle_t handle, void *input, tmsize_t wanted) {
    wi_tiff_writer *f = handle;
    uint64_t count = wanted < 0 ? 0 : (uint64_t)wanted;
    if (count == 0) return 0;
    if (f->position > SIZE_MAX - count || !reserve(f, f->position + count)) {
        f->has_no_memory = 1;
        return 0;
    }
    // libtiff may seek beyond the end, to put a table at an even position. The bytes between must not be random.
    if (f->position > f->count) {
        memset(f->bytes + f->count, 0, (size_t)(f->position - f->count));
    }
    memcpy(f->bytes + f->position, input, (size_t)count);
    f->position += count;
    if (f->position > f->count) f->count = f->position;
    return wanted;
}

static tmsize_t read_bytes(thandle_t handle, void *output, tmsize_t wanted) {
    wi_tiff_writer *f = handle;
    uint64_t left = f->position < f->count ? f->count - f->position : 0;
    uint64_t count = wanted < 0 ? 0 : (uint64_t)wanted;
    if (count > left) count = left;
    if (count > 0) memcpy(output, f->bytes + f->position, (size_t)count);
    f->position += count;
    return (tmsize_t)count;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    wi_tiff_writer *f = handle;
    uint64_t base = whence == SEEK_CUR ? f->position : whence == SEEK_END ? f->count : 0;
    f->position = base + offset;
    return f->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size(thandle_t handle) { return ((wi_tiff_writer *)handle)->count; }

static int keep_error(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)module;
    wi_tiff_writer *f = context;
    // The first of several messages states the cause.
    if (f->message[0] == 0) vsnprintf(f->message, sizeof f->message, format, arguments);
    return 1;
}

static int ignore_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

// MARK: the picture

static size_t samples_of(const wi_tiff_picture *p) {
    return (p->is_gray ? 1 : 3) + (p->alpha == WI_TIFF_ALPHA_NONE ? 0 : 1);
}

/// Converts pixels to those of the file, which are never multiplied by their alpha.
static void make_straight(const wi_tiff_picture *p, void *pixels, size_t count) {
    if (p->is_16_bit) wi_unpremultiply_16(pixels, count);
    else wi_unpremultiply_8(pixels, count);
}

/// Makes a row of the file: without the alpha of opaque pictures, and with one channel for grays.
static void pack_row(const wi_tiff_picture *p, const uint8_t *row, uint8_t *out) {
    size_t sample = p->is_16_bit ? 2 : 1, colors = p->is_gray ? 1 : 3;
    if (p->alpha != WI_TIFF_ALPHA_NONE && !p->is_gray) {
        memcpy(out, row, p->width * 4 * sample);
        if (p->alpha == WI_TIFF_ALPHA_ASSOCIATED) make_straight(p, out, p->width);
        return;
    }
    for (size_t x = 0; x < p->width; x++, row += 4 * sample) {
        uint16_t pixel[4];
        memcpy(pixel, row, 4 * sample);
        if (p->alpha == WI_TIFF_ALPHA_ASSOCIATED) make_straight(p, pixel, 1);
        memcpy(out, pixel, colors * sample);
        out += colors * sample;
        if (p->alpha == WI_TIFF_ALPHA_NONE) continue;
        memcpy(out, (uint8_t *)pixel + 3 * sample, sample);
        out += sample;
    }
}

/// libdeflate, through which newer versions of libtiff deflate, reaches the size of one of zlib's levels two levels below it.
static int deflate_level(TIFF *tiff, int level) {
#ifdef DEFLATE_SUBCODEC_LIBDEFLATE
    static const int levels[] = {0, 1, 1, 2, 2, 3, 4, 5, 6, 8};
    int codec = DEFLATE_SUBCODEC_ZLIB;
    if (TIFFGetField(tiff, TIFFTAG_DEFLATE_SUBCODEC, &codec) && codec == DEFLATE_SUBCODEC_LIBDEFLATE) return levels[level];
#endif
    (void)tiff;
    return level;
}

static int write_tags(TIFF *tiff, const wi_tiff_picture *p, uint32_t rows_per_strip) {
    int has_alpha = p->alpha != WI_TIFF_ALPHA_NONE;
    uint16_t kind = EXTRASAMPLE_UNASSALPHA;
    int is_well = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, p->width) && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, p->height)
        && TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, p->is_16_bit ? 16 : 8)
        && TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, (int)samples_of(p))
        && TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, p->is_gray ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB)
        && TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG)
        && TIFFSetField(tiff, TIFFTAG_ORIENTATION, p->orientation)
        && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows_per_strip)
        // A baseline TIFF must have a resolution (TIFF 6.0, section 6).
        && TIFFSetField(tiff, TIFFTAG_XRESOLUTION, p->density_x > 0 ? p->density_x : 72.0)
        && TIFFSetField(tiff, TIFFTAG_YRESOLUTION, p->density_y > 0 ? p->density_y : 72.0)
        && TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH)
        && TIFFSetField(tiff, TIFFTAG_COMPRESSION, p->level > 0 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
    if (is_well && has_alpha) is_well = TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
    if (is_well && p->level > 0) {
        is_well = TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL)
            && TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, deflate_level(tiff, p->level));
    }
    if (is_well && p->icc != NULL && p->icc_count > 0) {
        is_well = TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)p->icc_count, p->icc);
    }
    if (is_well && p->xmp != NULL && p->xmp_count > 0) {
        is_well = TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t)p->xmp_count, p->xmp);
    }
    return is_well;
}

static int write_picture(TIFF *tiff, const wi_tiff_picture *p) {
    size_t row_size = (size_t)p->width * samples_of(p) * (p->is_16_bit ? 2 : 1);
    // Long enough to compress well, short enough that a reader of one strip has little to decode.
    uint32_t rows = row_size > 65536 ? 1 : (uint32_t)(131072 / row_size);
    if (rows > p->height) rows = p->height;
    uint8_t *strip = malloc(row_size * rows);
    if (strip == NULL) return WI_TIFF_NO_MEMORY;
    int is_well = write_tags(tiff, p, rows);
    for (uint32_t top = 0, number = 0; is_well && top < p->height; number++) {
        uint32_t count = p->height - top < rows ? p->height - top : rows;
        for (uint32_t index = 0; index < count; index++) {
            pack_row(p, p->pixels + (size_t)(top + index) * p->stride, strip + index * row_size);
        }
        is_well = TIFFWriteEncodedStrip(tiff, number, strip, (tmsize_t)(row_size * count)) >= 0;
        top += count;
    }
    free(strip);
    return is_well && TIFFWriteDirectory(tiff) ? WI_TIFF_OK : WI_TIFF_CORRUPT;
}

wi_tiff_writer *wi_tiff_writer_create(int is_big, int is_big_endian) {
    wi_tiff_writer *f = calloc(1, sizeof *f);
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (f != NULL && options != NULL) {
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, f);
        TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, f);
        // A fixed order of bytes, not the machine's, so that every machine writes the same file. "8": BigTIFF.
        const char *mode = is_big ? (is_big_endian ? "w8b" : "w8l") : is_big_endian ? "wb" : "wl";
        f->tiff = TIFFClientOpenExt(
            "", mode, f, read_bytes, write_bytes, seek, close_nothing, size, NULL, NULL, options);
    }
    if (options != NULL) TIFFOpenOptionsFree(options);
    if (f != NULL && f->tiff != NULL) return f;
    free(f);
    return NULL;
}

void wi_tiff_writer_destroy(wi_tiff_writer *f) {
    if (f == NULL) return;
    if (f->tiff != NULL) TIFFClose(f->tiff);
    free(f->bytes);
    free(f);
}

int wi_tiff_writer_add(wi_tiff_writer *f, const wi_tiff_picture *p) {
    if (f->tiff == NULL) return WI_TIFF_CORRUPT;
    int result = write_picture(f->tiff, p);
    return f->has_no_memory ? WI_TIFF_NO_MEMORY : result;
}

int wi_tiff_writer_finish(wi_tiff_writer *f, const uint8_t **bytes, size_t *count) {
    if (f->tiff == NULL) return WI_TIFF_CORRUPT;
    TIFFClose(f->tiff);
    f->tiff = NULL;
    if (f->has_no_memory) return WI_TIFF_NO_MEMORY;
    *bytes = f->bytes;
    *count = (size_t)f->count;
    return f->bytes != NULL && f->message[0] == 0 ? WI_TIFF_OK : WI_TIFF_CORRUPT;
}

const char *wi_tiff_writer_message(const wi_tiff_writer *f) { return f->message; }

#endif
