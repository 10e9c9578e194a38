#pragma once
/* Decodes the scan of a sequential JPEG at a half, a quarter or an eighth of its size: see ReducedPicture.h. Coefficients that do
   not affect the result are skipped without reading their values. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct wi_reduced_scan wi_reduced_scan;

/* Whether this can read a file whose header was read up to its first scan: one that is sequential, in one scan, has Huffman codes,
   and is accepted by wi_reduced_picture_takes. libjpeg reads the others. */
int wi_reduced_scan_takes(const struct jpeg_decompress_struct *c);
/* Makes a decoder for such a file. NULL if its codes are invalid, or without memory. */
wi_reduced_scan *wi_reduced_scan_create(const struct jpeg_decompress_struct *c, int denominator);
void wi_reduced_scan_destroy(wi_reduced_scan *scan);

/* Writes the next rows, at most `count`, from the bytes of the source, as wi_reduced_picture_write_row does; `done` receives how
   many. Returns 0 if more bytes must arrive first, -1 if they have ended too early. Damage is shown as in libjpeg: data that
   cannot be read becomes gray, up to the next restart marker. */
int wi_reduced_scan_read(
    wi_reduced_scan *scan, struct jpeg_source_mgr *source, int has_ended, uint8_t *rows, size_t stride, uint32_t count,
    uint32_t *done);
