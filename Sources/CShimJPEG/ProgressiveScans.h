#pragma once
/* Reads the scans of a progressive JPEG at a half, a quarter or an eighth of its size: see ReducedPicture.h. Only the coefficients
   that affect the result are kept, and scans that have none of them are skipped. Damage is handled as in libjpeg: data that cannot
   be read changes nothing, up to the next restart marker. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct wi_progressive_scans wi_progressive_scans;

/* Whether this can read a file whose header was read up to its first scan: one that is progressive, has Huffman codes, and is
   accepted by wi_reduced_picture_takes. libjpeg reads the others. */
int wi_progressive_scans_takes(const struct jpeg_decompress_struct *c);
/* Makes a decoder for a file whose header was read up to its first scan. NULL without memory. */
wi_progressive_scans *wi_progressive_scans_create(const struct jpeg_decompress_struct *c, int denominator);
void wi_progressive_scans_destroy(wi_progressive_scans *scans);

/* Reads up to `steps` rows of units from the bytes of the source. Returns WI_JPEG_NEEDS_BYTES, WI_JPEG_MORE or, after the last
   scan, WI_JPEG_READY. Violations of the format are passed to libjpeg's error handler, which must not return. */
int wi_progressive_scans_consume(wi_progressive_scans *scans, j_decompress_ptr c, int has_ended, int steps);
/* Whether the bytes ended within a scan, and then in which, from 1, and in which row of units. */
int wi_progressive_scans_ran_out(const wi_progressive_scans *scans, int *scan, JDIMENSION *row);
/* Whether the scans so far contain all bits that affect the result. */
int wi_progressive_scans_are_exact(const wi_progressive_scans *scans);

/* Makes wi_progressive_scans_read begin with the first row. */
void wi_progressive_scans_start_output(wi_progressive_scans *scans);
/* Writes the next rows as far as they are known, as wi_reduced_picture_write_row does. Returns how many, at most `count`. */
uint32_t wi_progressive_scans_read(wi_progressive_scans *scans, uint8_t *rows, size_t stride, uint32_t count);
