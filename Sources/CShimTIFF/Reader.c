/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include "Reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: life

wi_tiff_reader *wi_tiff_create(const uint8_t *bytes, size_t count) {
    wi_tiff_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    return reader;
}

wi_tiff_reader *wi_tiff_create_reading(int file, size_t count) {
    wi_tiff_reader *reader = wi_tiff_create(NULL, count);
    if (reader != NULL) reader->file = file;
    return reader;
}

void wi_tiff_destroy(wi_tiff_reader *reader) {
    if (reader == NULL) return;
    if (reader->has_rgba) TIFFRGBAImageEnd(&reader->rgba);
    if (reader->tiff != NULL) TIFFClose(reader->tiff);
    free(reader->samples_read);
    free(reader->widened);
    free(reader->strip);
    // libtiff uses it until the file is closed.
    free(reader->raw_tile);
    free(reader);
}

const char *wi_tiff_message(const wi_tiff_reader *reader) { return reader->message; }

static int failure(const wi_tiff_reader *reader) {
    // libtiff's message for a kind of JPEG that its libjpeg does not read.
    if (strstr(reader->message, "Unsupported JPEG process") != NULL) return WI_TIFF_UNSUPPORTED;
    return reader->is_past_end || reader->has_shortened ? WI_TIFF_TRUNCATED : WI_TIFF_CORRUPT;
}

static int refuse(wi_tiff_reader *reader, const char *message) {
    snprintf(reader->message, sizeof reader->message, "%s", message);
    return WI_TIFF_UNSUPPORTED;
}

// MARK: tags

/* What the samples mean: without the tag, what libtiff's RGBA reader takes them for. */
static uint16_t photometric(const wi_tiff_reader *reader) {
    uint16_t likely = reader->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    return wi_tiff_tag(reader->tiff, TIFFTAG_PHOTOMETRIC, likely);
}

static uint16_t alpha_kind(const wi_tiff_reader *reader) {
    TIFF *tiff = reader->tiff;
    uint16_t count = 0;
    uint16_t *kinds = NULL;
    // If the kind of the fourth sample is not stated, it is alpha.
    if (reader->photometric == PHOTOMETRIC_RGB && reader->samples == 4 &&
        !TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds)) {
        return EXTRASAMPLE_UNASSALPHA;
    }
    if (!TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count == 0 || kinds == NULL) return 0;
    return kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA ? kinds[0] : 0;
}

/// The longest strip of planes that is read here, as a whole. Longer ones are left to libtiff's RGBA reader.
enum { LONGEST_STRIP_OF_PLANES = 64 << 20 };

static int are_planes_short(const wi_tiff_reader *reader) {
    if (reader->is_tiled) return 1;
    uint32_t rows = reader->height;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    if (rows > reader->height) rows = reader->height;
    uint64_t length = (uint64_t)TIFFScanlineSize64(reader->tiff);
    return rows == 0 || length <= LONGEST_STRIP_OF_PLANES / reader->planes / rows;
}

/// The number of colours of a pixel; 0 for a kind that only libtiff's RGBA reader reads.
static uint16_t color_count(const wi_tiff_reader *reader) {
    switch (reader->photometric) {
    case PHOTOMETRIC_RGB: return 3;
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE: return 1;
    case PHOTOMETRIC_PALETTE: return reader->palette[0] != NULL ? 1 : 0;
    case PHOTOMETRIC_CIELAB:
        if (reader->sample_format != SAMPLEFORMAT_UINT) return 0;
        return (reader->bits == 8 || reader->bits == 16) && reader->alpha != EXTRASAMPLE_ASSOCALPHA ? 3 : 0;
    case PHOTOMETRIC_SEPARATED:
        return wi_tiff_tag(reader->tiff, TIFFTAG_INKSET, INKSET_CMYK) == INKSET_CMYK ? 4 : 0;
    default: return 0;
    }
}

static int is_plain(wi_tiff_reader *reader) {
    reader->colors = color_count(reader);
    reader->used = (uint16_t)(reader->colors + (reader->alpha != 0));
    if (reader->colors == 0 || reader->samples < reader->used || !wi_tiff_can_widen(reader)) return 0;
    // Pictures of these depths, such as scanned pages, are left to libtiff, which expands them by tables.
    int has_table = reader->bits == 1 || reader->bits == 2 || reader->bits == 4;
    if (has_table && reader->samples == 1) return 0;
    reader->is_planar = reader->samples > 1 &&
        wi_tiff_tag(reader->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    reader->planes = reader->is_planar ? reader->used : 1;
    return !reader->is_planar || are_planes_short(reader);
}

/// Whether its samples are logarithms of light.
static int is_light(const wi_tiff_reader *reader) {
    return reader->photometric == PHOTOMETRIC_LOGL || reader->photometric == PHOTOMETRIC_LOGLUV;
}

/// Whether there is a way to show samples of this kind.
static int is_known_format(const wi_tiff_reader *reader) {
    // libtiff would show the white of paper as yellow.
    if (reader->photometric == PHOTOMETRIC_CIELAB) return reader->is_plain;
    return reader->sample_format == SAMPLEFORMAT_UINT || reader->is_plain || is_light(reader);
}

static int open_file(wi_tiff_reader *reader) {
    if (!wi_tiff_open_source(reader)) return WI_TIFF_NO_MEMORY;
    if (reader->tiff == NULL) return failure(reader);
    if (reader->directory != 0 && !TIFFSetSubDirectory(reader->tiff, reader->directory)) return failure(reader);
    wi_tiff_find_palette(reader);
    wi_tiff_shorten_parts(reader);
    return WI_TIFF_OK;
}

/// The maximum number of samples of a pixel: colours, alpha, and others that measuring cameras add. A tile's memory grows with
/// each.
enum { MOST_SAMPLES = 16 };

int wi_tiff_open(wi_tiff_reader *reader, size_t limit, uint64_t directory, wi_tiff_info *info) {
    reader->limit = limit;
    reader->directory = directory;
    int result = open_file(reader);
    if (result != WI_TIFF_OK) return result;
    TIFF *tiff = reader->tiff;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &reader->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &reader->height);
    reader->bits = wi_tiff_tag(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    reader->samples = wi_tiff_tag(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    if (reader->samples > MOST_SAMPLES) return refuse(reader, "a pixel has more samples than are read");
    reader->photometric = photometric(reader);
    reader->is_tiled = TIFFIsTiled(tiff);
    reader->alpha = alpha_kind(reader);
    reader->sample_format = wi_tiff_tag(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    if (reader->sample_format == SAMPLEFORMAT_VOID) reader->sample_format = SAMPLEFORMAT_UINT;
    // Which samples of L*a*b* are signed follows from their meaning, and writers differ in what they state.
    int is_integer = reader->sample_format == SAMPLEFORMAT_UINT || reader->sample_format == SAMPLEFORMAT_INT;
    if (reader->photometric == PHOTOMETRIC_CIELAB && is_integer) reader->sample_format = SAMPLEFORMAT_UINT;
    reader->is_plain = is_plain(reader);
    info->width = reader->width;
    info->height = reader->height;
    info->bit_depth = reader->bits;
    info->orientation = wi_tiff_tag(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    info->alpha = reader->alpha;
    info->has_inks = reader->is_plain && reader->colors == 4;
    info->has_lab = reader->is_plain && reader->photometric == PHOTOMETRIC_CIELAB;
    info->has_deep_rows = reader->is_plain && reader->bits > 8 && !info->has_inks;
    info->is_gray = reader->photometric == PHOTOMETRIC_MINISBLACK || reader->photometric == PHOTOMETRIC_MINISWHITE;
    info->is_separated = reader->photometric == PHOTOMETRIC_SEPARATED;
    info->run = 1;
    info->density_unit = 0;
    if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &info->density_x) &&
        TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &info->density_y)) {
        info->density_unit = wi_tiff_tag(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    }
    return is_known_format(reader) ? WI_TIFF_OK : refuse(reader, "the samples are of an unsupported kind");
}

void wi_tiff_keep_inks(wi_tiff_reader *reader) { reader->keeps_inks = 1; }

const uint8_t *wi_tiff_icc(wi_tiff_reader *reader, size_t *count) {
    uint32_t length = 0;
    void *bytes = NULL;
    if (!TIFFGetField(reader->tiff, TIFFTAG_ICCPROFILE, &length, &bytes)) return NULL;
    *count = length;
    return bytes;
}

const uint8_t *wi_tiff_xmp(wi_tiff_reader *reader, size_t *count) {
    uint32_t length = 0;
    void *bytes = NULL;
    if (!TIFFGetField(reader->tiff, TIFFTAG_XMLPACKET, &length, &bytes)) return NULL;
    *count = length;
    return bytes;
}

// MARK: pixels

/// Longer strips are not read as a whole, and of longer rows one call reads only one.
enum { LONGEST_STRIP = 4 << 20 };

/* Gives libtiff a buffer of exactly a tile's length: it refuses tiles as stored that its own buffer, which is rounded up to
   1024 bytes, is longer than. */
static int set_raw_tile(wi_tiff_reader *reader) {
    tmsize_t size = TIFFTileSize(reader->tiff);
    if (wi_tiff_tag(reader->tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE || size <= 0) return WI_TIFF_OK;
    reader->raw_tile = malloc((size_t)size);
    if (reader->raw_tile == NULL) return WI_TIFF_NO_MEMORY;
    return TIFFReadBufferSetup(reader->tiff, reader->raw_tile, size) ? WI_TIFF_OK : failure(reader);
}

/* libtiff scrambles tiles of 4 x 4 subsampling that the picture's right edge cuts. */
static int scrambles_tiles(wi_tiff_reader *reader) {
    uint16_t across = 2, down = 2;
    if (!reader->is_tiled || reader->width % reader->tile_width == 0) return 0;
    if (photometric(reader) != PHOTOMETRIC_YCBCR) return 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    return across == 4 && down == 4;
}

static int begin_rgba(wi_tiff_reader *reader, wi_tiff_info *info) {
    char message[1024] = "";
    if (scrambles_tiles(reader)) return refuse(reader, "tiles with chroma of a quarter of the height are not supported");
    if (reader->is_tiled) {
        int result = set_raw_tile(reader);
        if (result != WI_TIFF_OK) return result;
    }
    if (!TIFFRGBAImageOK(reader->tiff, message)) return refuse(reader, message);
    if (!TIFFRGBAImageBegin(&reader->rgba, reader->tiff, 1, message)) {
        snprintf(reader->message, sizeof reader->message, "%s", message);
        return failure(reader);
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
        return refuse(reader, "this libtiff does not know the file's compression");
    }
    tmsize_t length = 0;
    if (reader->is_tiled) {
        TIFFGetField(reader->tiff, TIFFTAG_TILEWIDTH, &reader->tile_width);
        TIFFGetField(reader->tiff, TIFFTAG_TILELENGTH, &reader->tile_height);
        if (reader->tile_width == 0 || reader->tile_height == 0) return WI_TIFF_CORRUPT;
        if ((uint64_t)reader->tile_width * reader->tile_height > tile_limit) {
            return refuse(reader, "the tiles are larger than a picture may be");
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
        photometric(reader) == reader->photometric &&
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
            if (reader->is_planar) return failure(reader);
            // libtiff would continue in the middle of a strip that it could not read, so the file is opened again.
            if (had_strips) {
                reader->is_past_end = 0;
                reader->message[0] = 0;
                int result = open_file(reader), had_differences = reader->has_differences;
                if (result != WI_TIFF_OK) return result;
                wi_tiff_keep_differences(reader);
                if (!is_as_begun(reader) || reader->has_differences != had_differences) {
                    snprintf(reader->message, sizeof reader->message, "the file has changed while it was read");
                    return WI_TIFF_CORRUPT;
                }
            }
            if (TIFFReadScanline(reader->tiff, reader->samples_read, row + index, 0) != 1) return failure(reader);
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
        if (TIFFReadEncodedTile(reader->tiff, tile, place, size) != size) return failure(reader);
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
    if (!TIFFRGBAImageGet(&reader->rgba, (uint32_t *)(void *)output, reader->width, count)) return failure(reader);
    if (is_light(reader)) wi_tiff_curve_light(output, (size_t)reader->width * count);
    if (reader->rgba.alpha != 0) wi_tiff_make_straight(output, (size_t)reader->width * count);
    *done = count;
    return WI_TIFF_OK;
}

#endif
