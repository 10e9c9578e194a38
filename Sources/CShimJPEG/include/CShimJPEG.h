#pragma once
/* libjpeg reports errors by longjmp, which must not cross Swift. It does not leave this shim. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call. Failures are negative; `wi_jpeg_message` describes them.
enum {
    /// The data contradicts the format.
    WI_JPEG_CORRUPT = -1,
    /// A part of JPEG that libjpeg does not read (lossless, 12 bits, odd colour spaces).
    WI_JPEG_UNSUPPORTED = -2,
    WI_JPEG_NO_MEMORY = -3,
    /// The fed bytes are used as far as possible; more are needed.
    WI_JPEG_NEEDS_BYTES = 0,
    WI_JPEG_READY = 1,
    /// There is more to do without further bytes.
    WI_JPEG_MORE = 2,
};

/// The maximum lengths of metadata in one marker.
enum {
    WI_JPEG_LONGEST_EXIF = 65533 - 6,
    WI_JPEG_LONGEST_XMP = 65533 - 29,
    WI_JPEG_LONGEST_PHOTOSHOP = 65533 - 14,
};

/// The length of the name of an extended XMP packet.
enum { WI_JPEG_XMP_NAME = 32 };

typedef struct wi_jpeg_decoder wi_jpeg_decoder;

typedef struct {
    uint32_t width, height;
    /// Whether the whole picture is stored several times, in increasing detail.
    int progressive;
    /// Whether the picture is divided into several scans (progressive or not): read it by `wi_jpeg_consume`.
    int multiple_scans;
    /// Whether the coding is arithmetic. libjpeg cannot suspend in it, so all bytes must be fed and ended before rows are read.
    int arithmetic;
    /// The unit of JFIF's density: 0 none (the density is unknown), 1 an inch, 2 a centimetre.
    int density_unit;
    uint16_t density_x, density_y;
    /// Whether the pixels are amounts of four inks.
    int has_inks;
    int is_gray;
    /// Whether smaller sizes are made from the low frequencies of the blocks, by ReducedPicture.h and not by libjpeg.
    int is_reducible;
} wi_jpeg_info;

/// Makes a decoder; NULL without memory.
/// - metadata_limit: longer EXIF and XMP blocks and ICC profiles are ignored.
wi_jpeg_decoder *_Nullable wi_jpeg_create(size_t metadata_limit);
void wi_jpeg_destroy(wi_jpeg_decoder *_Nullable decoder);

/// Feeds the next bytes, which must stay valid until `wi_jpeg_keep`.
int wi_jpeg_feed(wi_jpeg_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);
/// Copies the fed bytes that are not used yet, so that the caller may release its own.
int wi_jpeg_keep(wi_jpeg_decoder *_Nonnull decoder);
/// Ends the input: no more bytes follow.
void wi_jpeg_end(wi_jpeg_decoder *_Nonnull decoder);

/// Returns READY when everything before the first scan has been read.
int wi_jpeg_read_header(wi_jpeg_decoder *_Nonnull decoder, wi_jpeg_info *_Nonnull info);
/// The TIFF part of the EXIF block, NULL without one; valid as long as the decoder.
const uint8_t *_Nullable wi_jpeg_exif(wi_jpeg_decoder *_Nonnull decoder, size_t *_Nonnull count);
/// The XMP packet, NULL without one; valid as long as the decoder.
const uint8_t *_Nullable wi_jpeg_xmp(wi_jpeg_decoder *_Nonnull decoder, size_t *_Nonnull count);
/// Photoshop's image resources, NULL without any; valid as long as the decoder.
const uint8_t *_Nullable wi_jpeg_photoshop(wi_jpeg_decoder *_Nonnull decoder, size_t *_Nonnull count);
/// The extended XMP packet, NULL without a whole one; valid as long as the decoder.
/// - name: receives the name by which the XMP packet must refer to it.
const uint8_t *_Nullable wi_jpeg_extended_xmp(
    wi_jpeg_decoder *_Nonnull decoder, size_t *_Nonnull count, const char *_Nullable *_Nonnull name);
/// The bytes of the ICC profile, 0 without a whole one.
size_t wi_jpeg_icc_size(wi_jpeg_decoder *_Nonnull decoder);
/// Writes `wi_jpeg_icc_size` bytes.
void wi_jpeg_copy_icc(wi_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull into);

/// Makes rows consist of inks: cyan, magenta, yellow and black, from 0 for none to 255. By default inks are converted to opaque
/// colours, the product of the light that the inks leave.
void wi_jpeg_keep_inks(wi_jpeg_decoder *_Nonnull decoder);
/// Returns READY when rows can be read, at 1/denominator (1, 2, 4 or 8) of the size, and the size of the result. At an eighth,
/// scans that do not affect the result are skipped, and damage in them is not noticed.
int wi_jpeg_start(
    wi_jpeg_decoder *_Nonnull decoder, int denominator, uint32_t *_Nonnull width, uint32_t *_Nonnull height);
/// Reads up to `count` RGBA rows; `done` receives how many. Returns NEEDS_BYTES if there were fewer.
int wi_jpeg_read_rows(
    wi_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull rows, size_t stride, uint32_t count, uint32_t *_Nonnull done);

/// For several scans: reads up to `steps` rows of blocks. Returns READY after the last scan.
int wi_jpeg_consume(wi_jpeg_decoder *_Nonnull decoder, int steps);
/// The number of the scan that is being read, from 1.
int wi_jpeg_scan(wi_jpeg_decoder *_Nonnull decoder);
/// Begins to render the picture: as it is after the last scan (`is_final`), or as far as it is known, without waiting for bytes.
int wi_jpeg_start_output(wi_jpeg_decoder *_Nonnull decoder, int is_final);
int wi_jpeg_finish_output(wi_jpeg_decoder *_Nonnull decoder);

/// Whether the data ended within a scan, so that the rows from there on were made up.
int wi_jpeg_ran_out(wi_jpeg_decoder *_Nonnull decoder);
/// For several scans, after the last: how many rows have at least a first, coarse version.
uint32_t wi_jpeg_known_rows(wi_jpeg_decoder *_Nonnull decoder);
/// For several scans, after the last: whether all bits of all pixels have been read.
int wi_jpeg_is_exact(wi_jpeg_decoder *_Nonnull decoder);

/// The message about the last failure.
const char *_Nonnull wi_jpeg_message(wi_jpeg_decoder *_Nonnull decoder);

typedef struct {
    /// RGBA, 8 or 16 bits a channel.
    const uint8_t *_Nonnull pixels;
    size_t stride;
    uint32_t width, height;
    int is_16_bit;
    /// 0 opaque, 1 straight, 2 premultiplied.
    int alpha;
    uint8_t background[3];
    /// Whether only brightness is written: neither the pixels nor the background that shows through them have a colour.
    int is_gray;
    /// 1 to 100.
    int quality;
    /// How many columns and rows of pixels share one sample of colour: 1 or 2.
    int chroma_columns, chroma_rows;
    int progressive;
    /// Whether to use the Huffman codes of ITU-T T.81, annex K, instead of making codes for the picture: that takes only one pass,
    /// and makes a longer file. Not for progressive pictures.
    int usual_codes;
    const uint8_t *_Nullable icc;
    size_t icc_count;
    /// A TIFF block; at most WI_JPEG_LONGEST_EXIF bytes.
    const uint8_t *_Nullable exif;
    size_t exif_count;
    /// An XMP packet; at most WI_JPEG_LONGEST_XMP bytes.
    const uint8_t *_Nullable xmp;
    size_t xmp_count;
    /// XMP that does not fit into `xmp`: first the name of WI_JPEG_XMP_NAME characters by which `xmp` refers to it, then its
    /// bytes.
    const uint8_t *_Nullable extended_xmp;
    size_t extended_xmp_count;
    /// Photoshop's image resources; at most WI_JPEG_LONGEST_PHOTOSHOP bytes.
    const uint8_t *_Nullable photoshop;
    size_t photoshop_count;
    /// Pixels an inch; 0: not known.
    uint16_t density_x, density_y;
} wi_jpeg_picture;

typedef struct {
    /// To be freed by `wi_jpeg_free`; NULL after a failure.
    uint8_t *_Nullable bytes;
    size_t count;
    char message[256];
} wi_jpeg_output;

/// Writes a JPEG. Returns READY or a failure.
int wi_jpeg_encode(const wi_jpeg_picture *_Nonnull picture, wi_jpeg_output *_Nonnull output);
void wi_jpeg_free(wi_jpeg_output *_Nonnull output);

#ifdef __cplusplus
}
#endif
