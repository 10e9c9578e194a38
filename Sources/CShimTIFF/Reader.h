#pragma once
#include <tiff.h>
#include <tiffio.h>

#include "CShimTIFF.h"

struct wi_tiff_reader {
    TIFF *tiff;
    const uint8_t *bytes;
    uint64_t count, position;
    /// Whether libtiff asked for bytes behind the end.
    int is_past_end;
    char message[1024];
    uint32_t width, height;
    uint16_t bits, samples, photometric, alpha;
    int is_tiled;
    /// Pictures whose samples lie side by side as we need them are read by ourselves, the others by libtiff's RGBA
    /// reader: it has 8 bits only, and multiplies colours by alpha.
    int is_plain, is_16_bit, has_rgba;
    TIFFRGBAImage rgba;
    uint32_t tile_width, tile_height;
    /// One row of the file, or one tile.
    uint8_t *samples_read;
    size_t samples_size;
    /// One strip of the file, if strips are not too long.
    uint8_t *strip;
    uint32_t strip_rows, strip_index;
    int has_strip;
    /// What the file was opened with.
    size_t limit;
    uint64_t directory;
};

/// Turns `count` pixels as stored into straight RGBA of 8 or 16 bits.
void wi_tiff_expand(const wi_tiff_reader *reader, uint8_t *output, const uint8_t *input, size_t count);
/// Divides 8-bit colours by their alpha, in place.
void wi_tiff_make_straight(uint8_t *pixels, size_t count);
