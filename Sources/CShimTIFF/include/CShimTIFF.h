#pragma once
/* libtiff returns tags through variadic functions, which Swift cannot call, and prints errors, which this shim does not. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call. Failures are negative; `wi_tiff_message` describes them.
enum {
    WI_TIFF_CORRUPT = -1,
    WI_TIFF_NO_MEMORY = -2,
    /// The data ends too early.
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
    /// The value of the orientation tag, valid or not.
    int orientation;
    int alpha;
    /// How many rows are best read together: those of a tile, or of a part that `wi_tiff_read` would otherwise read again from its
    /// start.
    uint32_t run;
    /// Whether rows of 16 bits a channel are available.
    int has_deep_rows;
    /// Whether the pixels are amounts of four inks that can be kept.
    int has_inks;
    /// Whether the rows are L*, a* and b* as ICC.1:2010 encodes them in whole numbers, a* and b* from -128 on.
    int has_lab;
    /// Whether the samples are gray, and whether they are inks.
    int is_gray, is_separated;
    /// 2 an inch, 3 a centimetre; 0 if no density is stated.
    int density_unit;
    float density_x, density_y;
} wi_tiff_info;

/// Makes a reader of `bytes`, which must stay valid; NULL without memory. Nothing is read yet.
wi_tiff_reader *_Nullable wi_tiff_create(const uint8_t *_Nullable bytes, size_t count);
/// Makes a reader of the first `count` bytes of an open file; NULL without memory.
wi_tiff_reader *_Nullable wi_tiff_create_reading(int file, size_t count);
void wi_tiff_destroy(wi_tiff_reader *_Nullable reader);

/// Reads a page's tags. Call it once for each reader. libtiff allocates at most `limit` bytes at a time. Sides may be 0.
/// - directory: the position of the tags in the file; 0: those of the first page.
int wi_tiff_open(
    wi_tiff_reader *_Nonnull reader, size_t limit, uint64_t directory, wi_tiff_info *_Nonnull info);
/// Prepares `wi_tiff_read`. Call it after the size has been checked. May change the alpha in `info`.
/// - is_16_bit: whether rows have 16 bits a channel; only if `has_deep_rows` is set.
/// - tile_limit: how many pixels one tile may have.
/// - memory_limit: how many bytes a tile or row may take.
int wi_tiff_begin(
    wi_tiff_reader *_Nonnull reader, int is_16_bit, uint64_t tile_limit, uint64_t memory_limit,
    wi_tiff_info *_Nonnull info);
/// Reads `count` rows from `row` on, as straight RGBA. `row` and `count` must be multiples of `run`, except at the end. Each call
/// does only one long piece of work, so that the caller can stop between two calls: of tiles it reads only the next one.
/// - done: how many of the rows are complete, also after a failure; 0 after a tile that is not the last: call it again.
int wi_tiff_read(
    wi_tiff_reader *_Nonnull reader, uint8_t *_Nonnull output, uint32_t row, uint32_t count, uint32_t *_Nonnull done);

/// Makes rows consist of inks: cyan, magenta, yellow and black, from 0 for none to 255. By default inks are converted to opaque
/// colours, the product of the light that the inks leave.
void wi_tiff_keep_inks(wi_tiff_reader *_Nonnull reader);

/// The ICC profile, or NULL; valid as long as the reader.
const uint8_t *_Nullable wi_tiff_icc(wi_tiff_reader *_Nonnull reader, size_t *_Nonnull count);
/// The XMP packet, or NULL; valid as long as the reader.
const uint8_t *_Nullable wi_tiff_xmp(wi_tiff_reader *_Nonnull reader, size_t *_Nonnull count);
const char *_Nonnull wi_tiff_message(const wi_tiff_reader *_Nonnull reader);

/// A page to write: RGB or gray, with or without straight alpha.
typedef struct {
    /// RGBA of 8 bits, or of 16 in the machine's byte order.
    const uint8_t *_Nonnull pixels;
    size_t stride;
    uint32_t width, height;
    int is_16_bit;
    /// The alpha of the pixels. Colours that are multiplied by it are divided.
    int alpha;
    /// Whether one channel is written for red, green and blue, which are equal.
    int is_gray;
    int orientation;
    /// The level of zlib, 1 to 9, after horizontal differences; 0: not compressed.
    int level;
    const uint8_t *_Nullable icc;
    size_t icc_count;
    const uint8_t *_Nullable xmp;
    size_t xmp_count;
    /// Pixels an inch. 0: not known; 72 is written, since there must be a value.
    double density_x, density_y;
} wi_tiff_picture;

typedef struct wi_tiff_writer wi_tiff_writer;

/// Makes a writer of a file with pages, in memory; NULL without memory. The same pictures give the same bytes.
/// - is_big: whether to write a BigTIFF.
wi_tiff_writer *_Nullable wi_tiff_writer_create(int is_big, int is_big_endian);
void wi_tiff_writer_destroy(wi_tiff_writer *_Nullable writer);
/// Writes a page.
int wi_tiff_writer_add(wi_tiff_writer *_Nonnull writer, const wi_tiff_picture *_Nonnull picture);
/// Ends the file, whose bytes are valid as long as the writer.
int wi_tiff_writer_finish(
    wi_tiff_writer *_Nonnull writer, const uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);
const char *_Nonnull wi_tiff_writer_message(const wi_tiff_writer *_Nonnull writer);

#ifdef __cplusplus
}
#endif
