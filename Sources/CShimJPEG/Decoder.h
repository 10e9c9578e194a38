#pragma once
#include "CShimJPEG.h"
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include "ProgressiveScans.h"
#include "ReducedScan.h"

struct wi_jpeg_decoder {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf failed;
    int failure;
    char message[JMSG_LENGTH_MAX];

    /* Bytes that libjpeg has not used yet lie here, in one piece; how many bytes to come it wants to skip. */
    uint8_t *kept;
    size_t capacity;
    size_t skip;
    /* What reads the scan or scans in place of libjpeg, if it does. */
    wi_reduced_scan *reduced;
    wi_progressive_scans *progressive;
    int ended;
    /* An end-of-image marker was made up since the data ended; and then rows of blocks had to be made up too. */
    int made_up_end;
    int ran_out;
    int ran_out_scan;
    JDIMENSION ran_out_row;
    uint32_t seen_components;
    /* What the frame header said. */
    boolean is_progressive, is_arithmetic;

    size_t metadata_limit;
    uint8_t *exif;
    size_t exif_count;
    uint8_t *xmp;
    size_t xmp_count;
    /* What Photoshop has put there, all pieces. */
    uint8_t *photoshop;
    size_t photoshop_count;
    /* The pieces of the first extended packet, and how many of its bytes came. */
    uint8_t *extended_xmp;
    size_t extended_count, extended_there;
    char extended_name[WI_JPEG_XMP_NAME];
    uint8_t *icc[256];
    uint16_t icc_counts[256];
    size_t icc_total;
    int icc_pieces;
    int icc_broken;

    uint8_t *cmyk;
    int keeps_inks;
};

/// Makes libjpeg read through `kept`.
void wi_jpeg_install_source(wi_jpeg_decoder *decoder);
/// Has EXIF, XMP and ICC blocks collected.
void wi_jpeg_install_markers(wi_jpeg_decoder *decoder);
void wi_jpeg_free_metadata(wi_jpeg_decoder *decoder);
