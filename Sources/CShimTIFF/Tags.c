/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include <string.h>

#include "Reader.h"

uint16_t wi_tiff_tag(TIFF *tiff, uint32_t name, uint16_t missing) {
    uint16_t value = missing;
    return TIFFGetFieldDefaulted(tiff, name, &value) ? value : missing;
}

void wi_tiff_find_palette(wi_tiff_reader *reader) {
    uint16_t *colors[3] = {NULL, NULL, NULL};
    memset(reader->palette, 0, sizeof reader->palette);
    if (wi_tiff_tag(reader->tiff, TIFFTAG_PHOTOMETRIC, UINT16_MAX) != PHOTOMETRIC_PALETTE) return;
    uint16_t bits = wi_tiff_tag(reader->tiff, TIFFTAG_BITSPERSAMPLE, 1);
    // libtiff converts indices of 1, 2, 4 and 8 bits to colours by itself, but drops alpha beside them, or refuses the picture.
    int is_alone = wi_tiff_tag(reader->tiff, TIFFTAG_SAMPLESPERPIXEL, 1) == 1;
    if (bits == 0 || bits > 16 || (is_alone && (bits == 8 || bits == 4 || bits < 3))) return;
    if (wi_tiff_tag(reader->tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) != SAMPLEFORMAT_UINT) return;
    if (!TIFFGetField(reader->tiff, TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2])) return;
    // As in libtiff: some old writers stored colours of 8 bits.
    reader->palette_scale = 257;
    reader->palette_last = (1u << bits) - 1;
    for (int color = 0; color < 3; color++) {
        reader->palette[color] = colors[color];
        for (size_t index = 0; index <= reader->palette_last; index++) {
            if (colors[color][index] > 255) reader->palette_scale = 1;
        }
    }
}

void wi_tiff_keep_differences(wi_tiff_reader *reader) {
    reader->has_differences = 0;
    int is_summed = wi_tiff_is_plain_rgb(reader) && !reader->is_planar && (reader->samples == 3 || reader->samples == 4);
    // For other compressions libtiff does not know the tag for differences, and would expect other arguments.
    uint16_t compression = wi_tiff_tag(reader->tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    int may_differ = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE ||
        compression == COMPRESSION_LZW || compression == COMPRESSION_ZSTD;
    uint16_t predictor = PREDICTOR_NONE;
    if (!is_summed || !may_differ || !TIFFGetField(reader->tiff, TIFFTAG_PREDICTOR, &predictor)) return;
    reader->has_differences = predictor == PREDICTOR_HORIZONTAL &&
        TIFFSetField(reader->tiff, TIFFTAG_PREDICTOR, PREDICTOR_NONE);
}

#endif
