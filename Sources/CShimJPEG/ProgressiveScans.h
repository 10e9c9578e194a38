#pragma once
/* Takes in the scans of a progressive JPEG at a half, a quarter or an eighth of its size: see ReducedPicture.h. Only the
   coefficients that show are kept, and scans of which none shows are passed over. Damage is taken as by libjpeg: what cannot
   be read changes nothing, up to the next restart marker. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct wi_progressive_scans wi_progressive_scans;

/* Whether a file whose header was read up to its first scan is of a kind for this: progressive, with Huffman codes, and as
   wi_reduced_picture_takes says. Other kinds are for libjpeg. */
int wi_progressive_scans_takes(const struct jpeg_decompress_struct *c);
/* A decoder for a file whose header was read up to its first scan. NULL without memory. */
wi_progressive_scans *wi_progressive_scans_create(const struct jpeg_decompress_struct *c, int denominator);
void wi_progressive_scans_destroy(wi_progressive_scans *scans);

/* Takes in up to `steps` rows of units from the bytes of the source. Returns WI_JPEG_NEEDS_BYTES, WI_JPEG_MORE or, behind the
   last scan, WI_JPEG_READY. What contradicts the format goes to libjpeg's handler of errors, which must not return. */
int wi_progressive_scans_consume(wi_progressive_scans *scans, j_decompress_ptr c, int has_ended, int steps);
/* Whether the bytes ended within a scan, and then in which, from 1, and in which row of units. */
int wi_progressive_scans_ran_out(const wi_progressive_scans *scans, int *scan, JDIMENSION *row);
/* Whether the scans so far have said all of what shows. */
int wi_progressive_scans_are_exact(const wi_progressive_scans *scans);

/* Has the picture read from its first row on. */
void wi_progressive_scans_start_output(wi_progressive_scans *scans);
/* Writes the next rows as far as they are known, as wi_reduced_picture_write_row does. Returns how many, at most `count`. */
uint32_t wi_progressive_scans_read(wi_progressive_scans *scans, uint8_t *rows, size_t stride, uint32_t count);
