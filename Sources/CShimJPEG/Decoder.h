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

    /* The bytes that libjpeg has not used yet, in one piece; and how many of the bytes that follow it wants to skip. */
    uint8_t *kept;
    size_t capacity;
    size_t skip;
    /* Our readers of the scan, or of the scans, in place of libjpeg; NULL if libjpeg reads them. */
    wi_reduced_scan *reduced;
    wi_progressive_scans *progressive;
    int ended;
    /* Whether an end-of-image marker was made up because the data ended, and whether rows of blocks had to be made up too. */
    int made_up_end;
    int ran_out;
    int ran_out_scan;
    JDIMENSION ran_out_row;
    uint32_t seen_components;
    /* The values from the frame header. */
    boolean is_progressive, is_arithmetic;

    size_t metadata_limit;
    uint8_t *exif;
    size_t exif_count;
    uint8_t *xmp;
    size_t xmp_count;
    /* Photoshop's image resources, from all pieces. */
    uint8_t *photoshop;
    size_t photoshop_count;
    /* The pieces of the first extended packet, and how many of its bytes have arrived. */
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

/// Makes libjpeg read from `kept`.
void wi_jpeg_install_source(wi_jpeg_decoder *decoder);
/// Makes libjpeg call us for the blocks of EXIF, XMP and ICC profiles, which are collected.
void wi_jpeg_install_markers(wi_jpeg_decoder *decoder);
void wi_jpeg_free_metadata(wi_jpeg_decoder *decoder);
