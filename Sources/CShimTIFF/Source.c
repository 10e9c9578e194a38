/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include "Reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// MARK: the file, in memory or on disk

/// Reads `count` bytes, or fewer if the file has become shorter. Returns how many.
static uint64_t read_file(const wi_tiff_reader *reader, void *output, uint64_t count) {
    uint64_t done = 0;
    while (done < count) {
        ssize_t found = pread(
            reader->file, (char *)output + done, (size_t)(count - done), (off_t)(reader->position + done));
        if (found < 0 && errno == EINTR) continue;
        if (found <= 0) break;
        done += (uint64_t)found;
    }
    return done;
}

static tmsize_t read_bytes(thandle_t handle, void *output, tmsize_t wanted) {
    wi_tiff_reader *reader = handle;
    uint64_t left = reader->position < reader->count ? reader->count - reader->position : 0;
    uint64_t count = wanted < 0 ? 0 : (uint64_t)wanted;
    if (count > left) {
        reader->is_past_end = 1;
        count = left;
    }
    if (count > 0 && reader->bytes != NULL) memcpy(output, reader->bytes + reader->position, count);
    if (count > 0 && reader->bytes == NULL) {
        uint64_t found = read_file(reader, output, count);
        if (found < count) reader->is_past_end = 1;
        count = found;
    }
    reader->position += count;
    return (tmsize_t)count;
}

static tmsize_t write_nothing(thandle_t handle, void *input, tmsize_t count) {
    (void)handle, (void)input, (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    wi_tiff_reader *reader = handle;
    uint64_t base = whence == SEEK_CUR ? reader->position : whence == SEEK_END ? reader->count : 0;
    reader->position = base + offset;
    return reader->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size(thandle_t handle) { return ((wi_tiff_reader *)handle)->count; }

static int keep_error(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)module;
    wi_tiff_reader *reader = context;
    // The first of several messages states the cause.
    if (reader->message[0] == 0) vsnprintf(reader->message, sizeof reader->message, format, arguments);
    return 1;
}

static int ignore_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

// MARK: libtiff's view of it

int wi_tiff_open_source(wi_tiff_reader *reader) {
    if (reader->tiff != NULL) TIFFClose(reader->tiff);
    reader->tiff = NULL;
    reader->position = 0;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL) return 0;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)reader->limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, reader);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, reader);
    // "m": no mapping, so that every access beyond the end goes through read_bytes; "h": no directory is read yet.
    reader->tiff = TIFFClientOpenExt(
        "", reader->directory == 0 ? "rm" : "rhm", reader, read_bytes, write_nothing, seek, close_nothing, size, NULL,
        NULL, options);
    TIFFOpenOptionsFree(options);
    return 1;
}

// MARK: lengths of strips and tiles

/* Whether a codec reports that its data ends early, rather than making up what is missing. */
static int knows_its_end(uint16_t compression) {
    switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_LZMA:
    case COMPRESSION_ZSTD: return 1;
    default: return 0;
    }
}

void wi_tiff_shorten_parts(wi_tiff_reader *reader) {
    uint16_t compression = COMPRESSION_NONE;
    reader->has_shortened = 0;
    TIFFGetField(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    if (!knows_its_end(compression)) return;
    int is_tiled = TIFFIsTiled(reader->tiff);
    uint32_t count = is_tiled ? TIFFNumberOfTiles(reader->tiff) : TIFFNumberOfStrips(reader->tiff);
    const uint64_t *offsets = NULL, *lengths = NULL;
    if (!TIFFGetField(reader->tiff, is_tiled ? TIFFTAG_TILEOFFSETS : TIFFTAG_STRIPOFFSETS, &offsets)) return;
    if (!TIFFGetField(reader->tiff, is_tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS, &lengths)) return;
    if (offsets == NULL || lengths == NULL) return;
    // libtiff returns its own arrays, and has no function to change them.
    uint64_t *own = (uint64_t *)(uintptr_t)lengths;
    for (uint32_t part = 0; part < count; part++) {
        if (offsets[part] >= reader->count || lengths[part] <= reader->count - offsets[part]) continue;
        own[part] = reader->count - offsets[part];
        reader->has_shortened = 1;
    }
}

#endif
