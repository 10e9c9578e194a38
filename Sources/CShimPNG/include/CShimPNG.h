#pragma once
/* libpng reports errors by longjmp, which must not cross Swift. It does not leave this shim. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call. Failures are negative; `wi_png_message` describes them.
enum {
    /// The data contradicts the format.
    WI_PNG_CORRUPT = -1,
    WI_PNG_NO_MEMORY = -2,
    /// `wi_png_next_rows` gave no memory.
    WI_PNG_STOPPED = -3,
    WI_PNG_OK = 0,
};

typedef struct wi_png_reader wi_png_reader;

/// Inflates a zlib stream. Returns how many bytes it wrote; 0 if the stream is damaged, or holds more than `capacity`.
size_t wi_png_inflate(
    const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull output, size_t capacity);

typedef struct {
    uint32_t width, height;
    /// Bits of a channel as stored.
    int bit_depth;
    int is_interlaced;
    int has_alpha;
    int is_gray;
    int has_palette;
    /// Whether the rows have 16 bits a channel, in the machine's byte order.
    int is_16_bit;
    size_t row_bytes;
} wi_png_info;

/// Called for memory for the rows from `row` on, at least one; returns in `count` for how many it is. NULL stops the decode. All
/// rows in memory that was returned before are complete. No longjmp of libpng crosses this function.
typedef uint8_t *_Nullable (*wi_png_next_rows)(void *_Nonnull context, uint32_t row, uint32_t *_Nonnull count);

/// Calls `work` on this thread and maybe, while it runs, `help` on another one. Returns when both have ended. `help` ends soon
/// after `goes_on(asked)` has become 0.
typedef void (*wi_png_together)(
    void *_Nonnull context, void (*_Nonnull work)(void *_Nonnull),
    void (*_Nonnull help)(void *_Nonnull, int (*_Nonnull goes_on)(void *_Nonnull), void *_Nonnull asked),
    void *_Nonnull argument);

/// Makes a reader; NULL without memory.
/// - chunk_limit: metadata that is longer than this, before or after inflating, is ignored.
/// - keeps_16_bit: 16-bit rows for 16-bit pictures; else the nearest 8 bits.
/// - uses_zlib: zlib inflates, even if a faster library is available. For tests.
wi_png_reader *_Nullable wi_png_create(
    size_t chunk_limit, int keeps_16_bit, int uses_zlib, void *_Nonnull context, wi_png_next_rows _Nonnull next_rows);
void wi_png_destroy(wi_png_reader *_Nullable reader);

/// Takes the next bytes of the file that do not belong to an `IDAT` chunk.
int wi_png_push(wi_png_reader *_Nonnull reader, const uint8_t *_Nonnull bytes, size_t count);
/// Takes the length and name of an `IDAT` chunk: 8 bytes.
int wi_png_begin_data(wi_png_reader *_Nonnull reader, const uint8_t *_Nonnull header);
/// Takes the next bytes of the contents and checksum of that chunk.
int wi_png_push_data(wi_png_reader *_Nonnull reader, const uint8_t *_Nonnull bytes, size_t count);
/// Returns true when the picture's data has begun, and then fills `info`.
int wi_png_header(wi_png_reader *_Nonnull reader, wi_png_info *_Nonnull info);
/// Writes all rows whose bytes were pushed. With a `wi_png_together`, must be called before those bytes are released, and before
/// bytes that belong to no `IDAT` chunk.
int wi_png_flush_data(wi_png_reader *_Nonnull reader);
/// Makes another thread inflate while this one makes rows. Must be called before the first `IDAT` chunk.
void wi_png_set_together(wi_png_reader *_Nonnull reader, wi_png_together _Nonnull together);
/// Sets the memory of an interlaced picture, in which it is refined. Other pictures call `wi_png_next_rows`.
void wi_png_set_picture(wi_png_reader *_Nonnull reader, uint8_t *_Nonnull rows, size_t stride);
/// How many rows were written into the last memory (for an interlaced picture, in this pass).
uint32_t wi_png_rows(wi_png_reader *_Nonnull reader);
/// Gives up the memory from `wi_png_next_rows`, which is then called again before the next row.
void wi_png_forget_rows(wi_png_reader *_Nonnull reader);
/// The pass that the last row belonged to, from 0.
int wi_png_pass(wi_png_reader *_Nonnull reader);
/// Whether the end of the file was read.
int wi_png_at_end(wi_png_reader *_Nonnull reader);
/// Whether all rows of all passes are complete.
int wi_png_has_all_rows(wi_png_reader *_Nonnull reader);

/// The ICC profile, NULL without one. Valid as long as the reader.
const uint8_t *_Nullable wi_png_icc(wi_png_reader *_Nonnull reader, size_t *_Nonnull count);

/// The XMP packet of an `iTXt` chunk, NULL without one. Valid as long as the reader.
const uint8_t *_Nullable wi_png_xmp(wi_png_reader *_Nonnull reader, size_t *_Nonnull count);

/// The message about the last failure.
const char *_Nonnull wi_png_message(wi_png_reader *_Nonnull reader);

typedef struct {
    /// RGBA, 8 or 16 bits a channel; with a palette, the index of a colour in it, one byte each.
    const uint8_t *_Nullable pixels;
    size_t stride;
    uint32_t width, height;
    int is_16_bit;
    /// 0 opaque (written without alpha), 1 straight, 2 premultiplied (written straight).
    int alpha;
    /// Whether one channel is written for red, green and blue, which are equal.
    int is_gray;
    /// The colours in RGBA, those that are not opaque first; NULL without a palette.
    const uint8_t *_Nullable palette;
    size_t palette_count;
    /// The bits of an index into the palette: 1, 2, 4 or 8.
    int palette_bits;
    /// The level of zlib, 0 to 9.
    int level;
    /// Whether it is written in seven passes (Adam7).
    int is_interlaced;
    /// Pictures with at most so many bytes of rows are compressed in one piece, if libdeflate is available. That takes a fourth of
    /// the time of zlib, and as much memory again. 0: never.
    size_t most_at_once;
    const uint8_t *_Nullable icc;
    size_t icc_count;
    /// A TIFF block.
    const uint8_t *_Nullable exif;
    size_t exif_count;
    /// An XMP packet.
    const uint8_t *_Nullable xmp;
    size_t xmp_count;
    /// Whether `cicp` is to be written: primaries, transfer, matrix, full range.
    int has_cicp;
    uint8_t cicp[4];
    /// Pixels a metre; 0: not known.
    uint32_t density_x, density_y;
} wi_png_picture;

typedef struct {
    /// To be freed by `wi_png_free`; NULL after a failure.
    uint8_t *_Nullable bytes;
    size_t count;
    char message[256];
} wi_png_output;

/// Writes a PNG. Returns OK or a failure.
int wi_png_encode(const wi_png_picture *_Nonnull picture, wi_png_output *_Nonnull output);
void wi_png_free(wi_png_output *_Nonnull output);

#ifdef __cplusplus
}
#endif
