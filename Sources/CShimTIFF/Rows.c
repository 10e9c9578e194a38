/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include "Reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Longer strips are not read as a whole, and of longer rows one call reads only one.
enum { LONGEST_STRIP = 4 << 20 };

/* Gives libtiff a buffer of exactly a tile's length: it refuses tiles as stored that its own buffer, which is rounded up to
   1024 bytes, is longer than. */
static int set_raw_tile(wi_tiff_reader *reader) {
    tmsize_t size = TIFFTileSize(reader->tiff);
    if (wi_tiff_tag(reader->tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE || size <= 0) return WI_TIFF_OK;
    reader->raw_tile = malloc((size_t)size);
    if (reader->raw_tile == NULL) return WI_TIFF_NO_MEMORY;
    return TIFFReadBufferSetup(reader->tiff, reader->raw_tile, size) ? WI_TIFF_OK : wi_tiff_failure(reader);
}

/* libtiff scrambles tiles of 4 x 4 subsampling that the picture's right edge cuts. */
static int scrambles_tiles(wi_tiff_reader *reader) {
    uint16_t across = 2, down = 2;
    if (reader->width % reader->tile_width == 0 || wi_tiff_photometric(reader) != PHOTOMETRIC_YCBCR) return 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    return across == 4 && down == 4;
}

static int begin_rgba(wi_tiff_reader *reader, wi_tiff_info *info) {
    char message[1024] = "";
    if (reader->is_tiled) {
        if (scrambles_tiles(reader)) {
            return wi_tiff_refuse(reader, "tiles with chroma of a quarter of the height are not supported");
        }
        int result = set_raw_tile(reader);
        if (result != WI_TIFF_OK) return result;
    }
    if (!TIFFRGBAImageOK(reader->tiff, message)) return wi_tiff_refuse(reader, message);
    if (!TIFFRGBAImageBegin(&reader->rgba, reader->tiff, 1, message)) {
        snprintf(reader->message, sizeof reader->message, "%s", message);
        return wi_tiff_failure(reader);
    }
    reader->has_rgba = 1;
    // The rows as stored: the orientation is applied later, by others.
    reader->rgba.req_orientation = reader->rgba.orientation;
    info->alpha = reader->rgba.alpha != 0 ? WI_TIFF_ALPHA_ASSOCIATED : WI_TIFF_ALPHA_NONE;
    if (reader->is_tiled) return WI_TIFF_OK;
    uint32_t rows = reader->height;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    info->run = rows == 0 || rows > reader->height ? reader->height : rows;
    return WI_TIFF_OK;
}

int wi_tiff_begin(
    wi_tiff_reader *reader, int is_16_bit, uint64_t tile_limit, uint64_t memory_limit, wi_tiff_info *info) {
    reader->is_16_bit = is_16_bit;
    if (!TIFFIsCODECConfigured(wi_tiff_tag(reader->tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE))) {
        return wi_tiff_refuse(reader, "this libtiff does not know the file's compression");
    }
    tmsize_t length = 0;
    if (reader->is_tiled) {
        TIFFGetField(reader->tiff, TIFFTAG_TILEWIDTH, &reader->tile_width);
        TIFFGetField(reader->tiff, TIFFTAG_TILELENGTH, &reader->tile_height);
        if (reader->tile_width == 0 || reader->tile_height == 0) return WI_TIFF_CORRUPT;
        if ((uint64_t)reader->tile_width * reader->tile_height > tile_limit) {
            return wi_tiff_refuse(reader, "the tiles are larger than a picture may be");
        }
        info->run = reader->tile_height;
    }
    length = reader->is_tiled ? TIFFTileSize(reader->tiff)
        : reader->is_plain    ? TIFFScanlineSize(reader->tiff)
                              : TIFFStripSize(reader->tiff);
    uint64_t parts = reader->is_plain ? reader->planes : 1;
    if (length > 0 && (uint64_t)length > memory_limit / parts) {
        snprintf(reader->message, sizeof reader->message, "a tile or row takes more memory than its picture may");
        return WI_TIFF_TOO_LARGE;
    }
    if (!reader->is_plain) return begin_rgba(reader, info);
    uint64_t pixels = reader->is_tiled ? (uint64_t)reader->tile_width * reader->tile_height : reader->width;
    uint64_t samples = pixels * (reader->is_planar ? 1 : reader->samples);
    if (samples > UINT64_MAX / reader->bits) return WI_TIFF_CORRUPT;
    if (length <= 0 || (uint64_t)length < samples * reader->bits / 8) return WI_TIFF_CORRUPT;
    reader->samples_read = calloc(reader->planes, (size_t)length);
    reader->samples_size = (size_t)length;
    int is_wide = (reader->bits == 8 || reader->bits == 16) && reader->sample_format == SAMPLEFORMAT_UINT;
    if (!is_wide || reader->is_planar) {
        uint32_t width = reader->is_tiled ? reader->tile_width : reader->width;
        reader->widened = calloc(width, sizeof *reader->widened * reader->used);
        if (reader->widened == NULL) return WI_TIFF_NO_MEMORY;
    }
    if (!reader->is_tiled) {
        uint32_t rows = reader->height;
        TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        if (rows > reader->height) rows = reader->height;
        reader->strip_rows = rows;
        // Without memory for a strip, rows are read one by one.
        int is_short = reader->is_planar || rows <= LONGEST_STRIP / (size_t)length;
        if (rows > 0 && is_short) reader->strip = malloc(rows * (size_t)length * reader->planes);
        if (reader->is_planar && reader->strip == NULL) return WI_TIFF_NO_MEMORY;
    }
    wi_tiff_keep_differences(reader);
    return reader->samples_read != NULL ? WI_TIFF_OK : WI_TIFF_NO_MEMORY;
}

/* Whether the directory is still the one that memory was allocated for: a file on disk may change at any time, and libtiff
   writes rows of the lengths that the directory has now. */
static int is_as_begun(wi_tiff_reader *reader) {
    TIFF *tiff = reader->tiff;
    uint32_t width = 0, height = 0, rows = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    rows = height;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    if (rows > height) rows = height;
    int is_planar = reader->samples > 1 &&
        wi_tiff_tag(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    return width == reader->width && height == reader->height && rows == reader->strip_rows && !TIFFIsTiled(tiff) &&
        wi_tiff_tag(tiff, TIFFTAG_BITSPERSAMPLE, 1) == reader->bits &&
        wi_tiff_tag(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) == reader->samples && is_planar == reader->is_planar &&
        wi_tiff_photometric(reader) == reader->photometric &&
        (reader->photometric != PHOTOMETRIC_PALETTE || reader->palette[0] != NULL) &&
        TIFFScanlineSize(tiff) == (tmsize_t)reader->samples_size;
}

static size_t plane_distance(const wi_tiff_reader *reader) {
    return reader->is_tiled ? reader->samples_size : reader->strip_rows * reader->samples_size;
}

/* Returns a row in its strip, which is read as a whole: libtiff inflates whole strips twice as fast as rows. NULL if strips are
   too long for that, or this one cannot be read as a whole; rows are then read one by one, as far as possible. */
static const uint8_t *row_of_strip(wi_tiff_reader *reader, uint32_t row) {
    if (reader->strip == NULL || reader->strip_rows == 0) return NULL;
    uint32_t strip = row / reader->strip_rows;
    if (!reader->has_strip || strip != reader->strip_index) {
        uint32_t left = reader->height - strip * reader->strip_rows;
        uint32_t rows = left < reader->strip_rows ? left : reader->strip_rows;
        tmsize_t wanted = (tmsize_t)(rows * reader->samples_size);
        for (uint16_t plane = 0; plane < reader->planes; plane++) {
            uint32_t number = TIFFComputeStrip(reader->tiff, row, plane);
            uint8_t *place = reader->strip + plane_distance(reader) * plane;
            // Some of libtiff's codecs report success for damaged strips of which they wrote only a part.
            memset(place, 0, (size_t)wanted);
            if (TIFFReadEncodedStrip(reader->tiff, number, place, wanted) == wanted) continue;
            free(reader->strip);
            reader->strip = NULL;
            return NULL;
        }
        reader->strip_index = strip;
        reader->has_strip = 1;
    }
    return reader->strip + (row - strip * reader->strip_rows) * reader->samples_size;
}

static int read_plain_rows(wi_tiff_reader *reader, uint8_t *output, uint32_t row, uint32_t count, uint32_t *done) {
    size_t stride = (size_t)reader->width * (reader->is_16_bit ? 8 : 4);
    for (uint32_t index = 0; index < count; index++) {
        int had_strips = reader->strip != NULL;
        const uint8_t *samples = row_of_strip(reader, row + index);
        if (samples == NULL) {
            // Rows of planes cannot be read one by one: each change of the plane would begin a strip anew.
            if (reader->is_planar) return wi_tiff_failure(reader);
            // libtiff would continue in the middle of a strip that it could not read, so the file is opened again.
            if (had_strips) {
                reader->is_past_end = 0;
                reader->message[0] = 0;
                int result = wi_tiff_open_file(reader), had_differences = reader->has_differences;
                if (result != WI_TIFF_OK) return result;
                wi_tiff_keep_differences(reader);
                if (!is_as_begun(reader) || reader->has_differences != had_differences) {
                    snprintf(reader->message, sizeof reader->message, "the file has changed while it was read");
                    return WI_TIFF_CORRUPT;
                }
            }
            if (TIFFReadScanline(reader->tiff, reader->samples_read, row + index, 0) != 1) return wi_tiff_failure(reader);
            samples = reader->samples_read;
        }
        wi_tiff_expand(reader, output + index * stride, samples, plane_distance(reader), reader->width);
        *done = index + 1;
        if (reader->samples_size > LONGEST_STRIP) break;
    }
    return WI_TIFF_OK;
}

/* Reads the next tile of the rows. */
static int read_plain_tile(wi_tiff_reader *reader, uint8_t *output, uint32_t row, uint32_t count, uint32_t *done) {
    size_t pixel = reader->is_16_bit ? 8 : 4;
    size_t tile_stride = (size_t)TIFFTileRowSize(reader->tiff);
    uint32_t column = reader->column;
    tmsize_t size = (tmsize_t)reader->samples_size;
    for (uint16_t plane = 0; plane < reader->planes; plane++) {
        uint32_t tile = TIFFComputeTile(reader->tiff, column, row, 0, plane);
        uint8_t *place = reader->samples_read + reader->samples_size * plane;
        memset(place, 0, (size_t)size);
        if (TIFFReadEncodedTile(reader->tiff, tile, place, size) != size) return wi_tiff_failure(reader);
    }
    uint32_t left = reader->width - column;
    size_t wanted = left < reader->tile_width ? left : reader->tile_width;
    for (uint32_t index = 0; index < count; index++) {
        wi_tiff_expand(
            reader, output + ((size_t)index * reader->width + column) * pixel,
            reader->samples_read + index * tile_stride, plane_distance(reader), wanted);
    }
    reader->column = wanted < left ? column + reader->tile_width : 0;
    if (reader->column == 0) *done = count;
    return WI_TIFF_OK;
}

int wi_tiff_read(wi_tiff_reader *reader, uint8_t *output, uint32_t row, uint32_t count, uint32_t *done) {
    *done = 0;
    reader->is_past_end = 0;
    if (reader->is_plain) {
        if (!reader->is_tiled) return read_plain_rows(reader, output, row, count, done);
        if (count > reader->tile_height) return WI_TIFF_CORRUPT;
        return read_plain_tile(reader, output, row, count, done);
    }
    reader->rgba.row_offset = (int)row;
    reader->rgba.col_offset = 0;
    if (!TIFFRGBAImageGet(&reader->rgba, (uint32_t *)(void *)output, reader->width, count)) return wi_tiff_failure(reader);
    if (wi_tiff_is_light(reader)) wi_tiff_curve_light(output, (size_t)reader->width * count);
    if (reader->rgba.alpha != 0) wi_tiff_make_straight(output, (size_t)reader->width * count);
    *done = count;
    return WI_TIFF_OK;
}

#endif
