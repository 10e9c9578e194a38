#pragma once
#include <tiff.h>
#include <tiffio.h>

#include "CShimTIFF.h"

struct wi_tiff_reader {
    TIFF *tiff;
    /// The bytes of the TIFF; NULL if they are in a file.
    const uint8_t *bytes;
    int file;
    uint64_t count, position;
    /// Whether libtiff has requested bytes beyond the end.
    int is_past_end;
    char message[1024];
    uint32_t width, height;
    uint16_t bits, samples, photometric, alpha, sample_format;
    int is_tiled;
    /// The colours of indices of a depth that libtiff's RGBA reader does not know: red, green and blue; else NULL.
    const uint16_t *palette[3];
    /// The factor that makes its colours 16 bits: 257 if they have 8 bits, else 1.
    uint32_t palette_scale;
    /// The last index.
    uint32_t palette_last;
    /// Whether a strip or tile ended beyond the file by its stated length, which was shortened.
    int has_shortened;
    /// How many samples of a pixel are used, colours and alpha, and how many of them are colours: four are inks.
    uint16_t used, colors;
    int keeps_inks;
    /// Whether samples of one kind are stored together, in planes, and how many planes are read. Otherwise there is one plane.
    int is_planar;
    uint16_t planes;
    /// Whether this shim reads the samples itself (`is_plain`). The other kinds are read by libtiff's RGBA reader, which has only
    /// 8 bits, and multiplies colours by alpha.
    int is_plain, is_16_bit, has_rgba;
    /// Whether libtiff returns rows of differences between neighbours, which we sum faster (TIFF 6.0, section 14).
    int has_differences;
    TIFFRGBAImage rgba;
    uint32_t tile_width, tile_height;
    /// The column where the next tile begins.
    uint32_t column;
    /// One row of the file, or one tile; the planes one after the other, `samples_size` bytes each.
    uint8_t *samples_read;
    size_t samples_size;
    /// The used samples of a row, if they are not stored as 8 or 16 bits side by side; else NULL.
    uint16_t *widened;
    /// One strip of the file, if strips are not too long; the planes one after the other.
    uint8_t *strip;
    /// libtiff's buffer for a tile as stored, if it is ours; else NULL.
    uint8_t *raw_tile;
    uint32_t strip_rows, strip_index;
    int has_strip;
    /// The arguments with which the file was opened.
    size_t limit;
    uint64_t directory;
};

/// Opens the file, or opens it again, and goes to its directory.
int wi_tiff_open_file(wi_tiff_reader *reader);
/// The result for a failed call of libtiff.
int wi_tiff_failure(const wi_tiff_reader *reader);
/// Sets the message, and returns the result for what cannot be shown.
int wi_tiff_refuse(wi_tiff_reader *reader, const char *message);
/// What the samples mean: without the tag, what libtiff's RGBA reader takes them for.
uint16_t wi_tiff_photometric(const wi_tiff_reader *reader);
/// Whether its samples are logarithms of light.
int wi_tiff_is_light(const wi_tiff_reader *reader);
/// Makes libtiff open the bytes from their beginning; `tiff` is NULL if they are not a TIFF. Returns 0 without memory.
int wi_tiff_open_source(wi_tiff_reader *reader);
/// Shortens the stated lengths of strips and tiles that would end beyond the file. Some writers state too great lengths, and
/// libtiff then reads nothing of the last part. Its codecs stop by themselves when the pixels are complete.
void wi_tiff_shorten_parts(wi_tiff_reader *reader);
/// Finds the colours of indices of a depth that libtiff's RGBA reader does not know.
void wi_tiff_find_palette(wi_tiff_reader *reader);
/// The value of a tag of 16 bits, or `missing` if the file does not have it.
uint16_t wi_tiff_tag(TIFF *tiff, uint32_t name, uint16_t missing);
/// Makes libtiff return differences between neighbours as they are, if ``wi_tiff_expand`` sums such pixels. Must be called before
/// the first row is read.
void wi_tiff_keep_differences(wi_tiff_reader *reader);
/// Turns `count` pixels as stored, from the beginning of a row, into straight RGBA of 8 or 16 bits.
/// - plane: the distance in bytes from a row to that of the next plane, if there are planes.
void wi_tiff_expand(const wi_tiff_reader *reader, uint8_t *output, const uint8_t *input, size_t plane, size_t count);
/// Whether the pixels are of the most common kind: RGB of 8 bits, with straight alpha or none.
int wi_tiff_is_plain_rgb(const wi_tiff_reader *reader);
/// Whether samples of this kind can be widened.
int wi_tiff_can_widen(const wi_tiff_reader *reader);
/// Turns the used samples of `count` pixels into those of 16 bits, side by side, in `widened`.
void wi_tiff_widen(const wi_tiff_reader *reader, const uint8_t *input, size_t plane, size_t count);
/// Turns colours that libtiff made of LogL or LogLuv into those of sRGB, in place.
void wi_tiff_curve_light(uint8_t *pixels, size_t count);
/// Divides 8-bit colours by their alpha, in place.
void wi_tiff_make_straight(uint8_t *pixels, size_t count);
