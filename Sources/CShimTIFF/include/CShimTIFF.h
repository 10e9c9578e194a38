#pragma once
/* libtiff asks for tags through variadic functions, which Swift does not see, and prints errors: not from in here. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a call ended in. Failures are negative; `wi_tiff_message` says more.
enum {
    WI_TIFF_CORRUPT = -1,
    WI_TIFF_NO_MEMORY = -2,
    /// The data ends before what was to be read.
    WI_TIFF_TRUNCATED = -3,
    WI_TIFF_UNSUPPORTED = -4,
    /// More memory than the limit allows.
    WI_TIFF_TOO_LARGE = -5,
    WI_TIFF_OK = 0,
};

enum {
    WI_TIFF_ALPHA_NONE = 0,
    /// Colours are multiplied by alpha.
    WI_TIFF_ALPHA_ASSOCIATED = 1,
    WI_TIFF_ALPHA_STRAIGHT = 2,
};

typedef struct wi_tiff_reader wi_tiff_reader;

/// A page.
typedef struct {
    uint32_t width, height;
    /// Bits of a sample as stored.
    int bit_depth;
    /// The tag's value, whatever it is.
    int orientation;
    int alpha;
    /// Rows that are cheapest read together: of a tile, or of what `wi_tiff_read` reads again from its start.
    uint32_t run;
    /// Whether rows of 16 bits a channel can be had.
    int has_deep_rows;
    /// Whether the pixels are amounts of four inks that can be kept.
    int has_inks;
    /// Whether the rows are L*, a* and b* as ICC.1:2010 writes them in whole numbers: both of the latter from -128 on.
    int has_lab;
    /// What the samples are.
    int is_gray, is_separated;
    /// 2 an inch, 3 a centimetre; 0 when no density is told.
    int density_unit;
    float density_x, density_y;
} wi_tiff_info;

/// A reader of `bytes`, which must stay where they are; NULL without memory. Nothing is read yet.
wi_tiff_reader *_Nullable wi_tiff_create(const uint8_t *_Nullable bytes, size_t count);
/// A reader of the first `count` bytes of an open file.
wi_tiff_reader *_Nullable wi_tiff_create_reading(int file, size_t count);
void wi_tiff_destroy(wi_tiff_reader *_Nullable reader);

/// Reads a page's tags; once for each reader. No allocation by them is longer than `limit` bytes. Sides may be 0.
/// - directory: where in the file the tags are; 0: the first page's.
int wi_tiff_open(
    wi_tiff_reader *_Nonnull reader, size_t limit, uint64_t directory, wi_tiff_info *_Nonnull info);
/// Makes ready for `wi_tiff_read`; call it when the size is allowed. May change what `info` says of alpha.
/// - is_16_bit: rows with 16 bits a channel, where `has_deep_rows` says so.
/// - tile_limit: pixels that one tile may have.
/// - memory_limit: bytes that a tile or row may take.
int wi_tiff_begin(
    wi_tiff_reader *_Nonnull reader, int is_16_bit, uint64_t tile_limit, uint64_t memory_limit,
    wi_tiff_info *_Nonnull info);
/// Reads `count` rows from `row` on, straight RGBA; `row` and `count` in multiples of `run` but at the end.
/// Each call does what takes long but once, so that one can be left between them: of tiles it reads the next one.
/// - done: how many of the rows are complete, also after a failure; 0 after a tile that is not the last: call it again.
int wi_tiff_read(
    wi_tiff_reader *_Nonnull reader, uint8_t *_Nonnull output, uint32_t row, uint32_t count, uint32_t *_Nonnull done);

/// Has rows of inks given as they are: cyan, magenta, yellow and black, from 0 for none to 255. Else they become colours by the
/// product of what the inks leave, and opaque.
void wi_tiff_keep_inks(wi_tiff_reader *_Nonnull reader);

/// The ICC profile, or NULL; lives as long as the reader.
const uint8_t *_Nullable wi_tiff_icc(wi_tiff_reader *_Nonnull reader, size_t *_Nonnull count);
/// The XMP packet, or NULL; lives as long as the reader.
const uint8_t *_Nullable wi_tiff_xmp(wi_tiff_reader *_Nonnull reader, size_t *_Nonnull count);
const char *_Nonnull wi_tiff_message(const wi_tiff_reader *_Nonnull reader);

/// What to write: one page of RGB or gray, also with straight alpha.
typedef struct {
    /// RGBA of 8 bits, or of 16 in the machine's byte order.
    const uint8_t *_Nonnull pixels;
    size_t stride;
    uint32_t width, height;
    int is_16_bit;
    /// What the pixels have; multiplied ones are divided.
    int alpha;
    /// Whether one channel stands for red, green and blue, which are the same.
    int is_gray;
    int orientation;
    /// Of zlib, 1 to 9, after horizontal differences; 0: not compressed.
    int level;
    const uint8_t *_Nullable icc;
    size_t icc_count;
    const uint8_t *_Nullable xmp;
    size_t xmp_count;
    /// An inch; 0: 72, since there must be one.
    double density_x, density_y;
} wi_tiff_picture;

typedef struct wi_tiff_writer wi_tiff_writer;

/// A file of pages, in memory; NULL without memory. The same pictures give the same bytes.
/// - is_big: whether to write a BigTIFF.
wi_tiff_writer *_Nullable wi_tiff_writer_create(int is_big, int is_big_endian);
void wi_tiff_writer_destroy(wi_tiff_writer *_Nullable writer);
/// Writes a page.
int wi_tiff_writer_add(wi_tiff_writer *_Nonnull writer, const wi_tiff_picture *_Nonnull picture);
/// Ends the file, whose bytes live as long as the writer.
int wi_tiff_writer_finish(
    wi_tiff_writer *_Nonnull writer, const uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);
const char *_Nonnull wi_tiff_writer_message(const wi_tiff_writer *_Nonnull writer);

#ifdef __cplusplus
}
#endif
