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

int wi_tiff_failure(const wi_tiff_reader *reader) {
    // libtiff's message for a kind of JPEG that its libjpeg does not read.
    if (strstr(reader->message, "Unsupported JPEG process") != NULL) return WI_TIFF_UNSUPPORTED;
    return reader->is_past_end || reader->has_shortened ? WI_TIFF_TRUNCATED : WI_TIFF_CORRUPT;
}

int wi_tiff_refuse(wi_tiff_reader *reader, const char *message) {
    snprintf(reader->message, sizeof reader->message, "%s", message);
    return WI_TIFF_UNSUPPORTED;
}

// MARK: tags

uint16_t wi_tiff_photometric(const wi_tiff_reader *reader) {
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

int wi_tiff_is_light(const wi_tiff_reader *reader) {
    return reader->photometric == PHOTOMETRIC_LOGL || reader->photometric == PHOTOMETRIC_LOGLUV;
}

/// Whether there is a way to show samples of this kind.
static int is_known_format(const wi_tiff_reader *reader) {
    // libtiff would show the white of paper as yellow.
    if (reader->photometric == PHOTOMETRIC_CIELAB) return reader->is_plain;
    return reader->sample_format == SAMPLEFORMAT_UINT || reader->is_plain || wi_tiff_is_light(reader);
}

int wi_tiff_open_file(wi_tiff_reader *reader) {
    if (!wi_tiff_open_source(reader)) return WI_TIFF_NO_MEMORY;
    if (reader->tiff == NULL) return wi_tiff_failure(reader);
    if (reader->directory != 0 && !TIFFSetSubDirectory(reader->tiff, reader->directory)) return wi_tiff_failure(reader);
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
    int result = wi_tiff_open_file(reader);
    if (result != WI_TIFF_OK) return result;
    TIFF *tiff = reader->tiff;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &reader->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &reader->height);
    reader->bits = wi_tiff_tag(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    reader->samples = wi_tiff_tag(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    if (reader->samples > MOST_SAMPLES) return wi_tiff_refuse(reader, "a pixel has more samples than are read");
    reader->photometric = wi_tiff_photometric(reader);
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
    return is_known_format(reader) ? WI_TIFF_OK : wi_tiff_refuse(reader, "the samples are of an unsupported kind");
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

#endif
